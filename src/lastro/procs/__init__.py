"""Processes: who one is, starting it so that it stays, ending all of it, and never mistaking it for another.

identity    (boot id, pid, start ticks): a name for a process that is never used twice
detach      start a process that outlives its starter
job, shim   a job whose exit status survives its supervisor
killtree    end everything that belongs together, whatever it did to hide
child       run a command to its end or its deadline
"""
