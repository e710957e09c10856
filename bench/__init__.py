"""How fast: the same user-level code on shimtorch and, where it is installed, on torch.

    python -m bench                     all groups, a table of times, of ratios to torch and their geometric means
    python -m bench --help              groups, single cases, threads, processor time, JSON
    python -m bench.memory              whether a million training steps hold memory flat
"""
