"""The machine side: a supervisor beside the job that notices, restarts and records. Standard library only.

It outlives the connection and home. What is decided is decided by `lastro.rules`.
"""
