"""Caches of models, data sets, packages and compiled kernels: pointed to the disk before a program starts."""
