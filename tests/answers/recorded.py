"""Recording what an expression gives under one torch, and comparing it with what it gives under another.

Everything recorded is plain JSON: tensors as shape, dtype and (some) rounded elements; errors as type and message.
Runs on Python 3.6 too, so that the oldest PyTorch can be asked.
"""

import hashlib
import json
import math
import warnings


def grid(torch, *shape, **options):
    """A tensor of unremarkable numbers between -2 and 2, the same under every torch."""
    count = int(options.pop("start", 0))
    size = 1
    for n in shape:
        size *= n
    values = [2 * math.sin(1.3 * (i + count) * (i + count + 1) + 0.2) for i in range(size)]
    return torch.tensor(values, **options).view(tuple(shape))


def encode(value):
    """*value* as JSON."""
    if hasattr(value, "dtype") and hasattr(value, "tolist") and hasattr(value, "stride"):
        if getattr(value, "is_sparse", False):
            value = value.to_dense()
        flat = value.detach().reshape(-1).tolist()
        step = 1 + len(flat) // 24  # of a large tensor, samples
        sampled = [_number(v) for v in flat[::step]]
        return {"dtype": str(value.dtype), "shape": list(value.shape), "data": sampled}
    if isinstance(value, dict):
        return {"items": [[str(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return repr(value)


def _number(value):
    if isinstance(value, complex):
        return [_number(value.real), _number(value.imag)]
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else str(value)
    return value


def digest(tensor):
    """A fingerprint of the exact elements of a float32 or integer tensor."""
    text = ",".join(v.hex() if isinstance(v, float) else str(v) for v in tensor.detach().reshape(-1).tolist())
    return hashlib.sha1(text.encode()).hexdigest()[:12]


def answer(function):
    """What calling *function* gives: its result, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return {"result": encode(function())}
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error)}


def difference(expected, got, rtol=2e-5, atol=2e-6, path=""):
    """Where two encoded answers differ, in words; None if they agree."""
    if isinstance(expected, float) or isinstance(got, float):
        if isinstance(expected, (int, float)) and isinstance(got, (int, float)):
            if abs(expected - got) <= atol + rtol * abs(expected):
                return None
        return f"{path}: expected {expected!r}, got {got!r}"
    if type(expected) is not type(got):
        return f"{path}: expected {expected!r}, got {got!r}"
    if isinstance(expected, dict):
        if list(expected) != list(got):
            return f"{path}: expected {expected!r}, got {got!r}"
        pairs = [(key, expected[key], got[key]) for key in expected]
    elif isinstance(expected, list):
        if len(expected) != len(got):
            return f"{path}: expected {len(expected)} items, got {len(got)}"
        pairs = [(i, a, b) for i, (a, b) in enumerate(zip(expected, got))]  # noqa: B905
    else:
        return None if expected == got else f"{path}: expected {expected!r}, got {got!r}"
    for key, a, b in pairs:
        found = difference(a, b, rtol, atol, f"{path}/{key}")
        if found is not None:
            return found
    return None


def write(path, answers):
    """Write {case: answer} as JSON, one case a line."""
    lines = [json.dumps(case) + ": " + json.dumps(answers[case]) for case in answers]
    with open(path, "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
