"""What a drill sees of a job from inside its process: each update's data, loss, rates and state.

The probe comes in by a `sitecustomize` on PYTHONPATH, so that the job is the user's own, unchanged command.
Modules here import the standard library and each other alone: the job's Python may have no lastro.
"""
