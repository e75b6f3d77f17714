"""Machines that are reached by ssh: rented somewhere by hand, taken over as they are."""
