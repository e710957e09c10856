"""Being found as ``torch``: the import alias, the ``shimtorch`` command, and version metadata.

``alias``       `install`, `uninstall`, `installed`: ``import torch`` gives shimtorch
``runner``      runs a script or module with the alias in place
``cli``         the ``shimtorch`` command
``report``      what a script asks of torch, and what of it is missing here

``pytest_shimtorch`` is installed as a module beside shimtorch: pytest imports its plugins in every run, and importing
anything from in here imports shimtorch.
"""
