"""Processes that see only what they are given: the kernel's namespaces, by bubblewrap.

bubblewrap   whether it works here, and the words that every jail is made of
interpreter  programs as another process would find them: where a Python's parts lie, its packages
sealed       a jail without network, home or caches, in which outputs are reloaded
"""
