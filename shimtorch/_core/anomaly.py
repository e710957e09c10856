"""Anomaly mode: where in the user's code a node was made, and the warning that says so."""


def notes(parent):
    """What a new node remembers: the stack, and the node in whose derivative it was made."""
    import traceback
    result = {"traceback_": traceback.format_stack()[:-1]}
    if parent is not None:
        result["parent_"] = parent
    return result


def explain(node):
    """Warn where the node that failed was made."""
    stack = node.metadata.get("traceback_")
    if stack is None:
        _warn(f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during "
              "forward pass for more information.")
        return
    _warn(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{''.join(stack)}")
    parent = node.metadata.get("parent_")
    while parent is not None:
        stack = parent.metadata.get("traceback_")
        if stack is None:
            _warn(f"\n\nPrevious calculation was induced by {parent.name()}. No forward pass information available. "
                  "Enable detect anomaly during forward pass for more information.")
            return
        _warn(f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that induced the "
              f"previous calculation:\n{''.join(stack)}")
        parent = parent.metadata.get("parent_")


def _warn(message):
    import warnings
    warnings.warn(message, UserWarning, stacklevel=2)
