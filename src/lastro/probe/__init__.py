"""What a drill sees of a job from inside its process: each update's data, loss, rates and state.

The probe comes in by a `sitecustomize` on PYTHONPATH, so that the job is the user's own, unchanged command.
Modules here import the standard library, each other and `checkpoint.digest` alone: the job's Python may have
no lastro, and is only lent these.
"""
