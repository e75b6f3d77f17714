"""Machines that are jobs of a Slurm cluster, whose nodes see the same disk as the computer lastro runs on."""
