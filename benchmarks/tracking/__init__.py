"""The same work by lastro, MLflow and trackio: a job each, in a process and with a Python of its own."""
