"""Closing a campaign: every output is reloaded before it is counted, then accounted for, then the answer.

Values go in and come out; the journal is written by whoever calls.
"""
