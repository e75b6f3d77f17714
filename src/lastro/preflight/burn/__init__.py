"""Work that a healthy machine does without one wrong bit: memory, matrices, copies, sums over devices.

The kernels use the torch of the job's Python and run on any device of it. What a processor can show of them
is shown in the tests; on a GPU they have not been run yet.
"""
