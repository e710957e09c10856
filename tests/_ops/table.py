"""The op table as test rows: inputs drawn for an op's samples, the same ones for shimtorch and for real torch."""
import zlib

import numpy as np
from shimtorch._core.dtype import dtype as dtype_class

import shimtorch  # noqa: F401  (declares the ops)
from shimtorch._core import OPS
from shimtorch._ops import later
from shimtorch._ops.samples import Draw

DTYPES = {
    "float": ("float32", "float64"),
    "floating": ("float32", "float64", "complex64", "complex128"),
    "real": ("float32", "float64", "int64", "int32", "uint8"),
    "number": ("float32", "float64", "int64", "uint8", "bool", "complex64", "complex128"),
    "int": ("int64", "int32", "uint8", "bool"),
    "complex": ("complex64", "complex128"),
}
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-30, 30.0)


def sampled_ops():
    """Every op that has samples, once, by its name in torch."""
    later.load_all()
    seen = {}
    for op in OPS.values():
        if op.samples is not None and op.samples.calls:
            seen[id(op)] = op
    return sorted(seen.values(), key=full_name)


def full_name(op):
    """The op's name in torch; ``torch.Tensor.view`` for what is a method only."""
    return f"{op.namespace}.{'Tensor.' if op.is_method and not op.is_function else ''}{op.__name__}"


def draw(spec, dtype, rng):
    """An ndarray for a Draw in a dtype name."""
    dtype = np.dtype(spec.dtype or dtype)
    if dtype.kind == "c":
        values = rng.uniform(spec.low, spec.high, spec.shape) + 1j * rng.uniform(spec.low, spec.high, spec.shape)
        if spec.matrix is not None and values.size:
            values = shaped_matrix(values, spec.matrix)
    elif dtype.kind == "f":
        values = rng.uniform(spec.low, spec.high, spec.shape)
        if spec.away_from == 0:
            values = np.where(np.abs(values) < 0.2, np.sign(values) * 0.2 + values, values)
        elif spec.away_from == "integer":
            values = np.floor(values) + 0.2 + 0.6 * (values - np.floor(values))
        elif spec.away_from == "half":
            values = np.round(values) + 0.8 * (values - np.round(values))
        if spec.distinct:
            values = (rng.permutation(values.size).reshape(values.shape) + 0.5) / max(values.size, 1)
            values = spec.low + (spec.high - spec.low) * values
        if spec.matrix is not None and values.size:
            values = shaped_matrix(values, spec.matrix)
        if spec.special:
            values.reshape(-1)[:len(SPECIAL)] = SPECIAL
    else:
        low, high = int(np.ceil(spec.low)), int(np.ceil(spec.high))
        if dtype.kind in "ub":
            low, high = max(low, 0), max(high, 1) if dtype.kind == "u" else 2
        values = rng.integers(low, max(high, low + 1), spec.shape)
        if spec.distinct:
            values = rng.permutation(values.size).reshape(values.shape)
    return np.asarray(values).astype(dtype)


def shaped_matrix(values, kind):
    """Square matrices made well-conditioned ("regular") or Hermitian and positive-definite ("positive")."""
    n = values.shape[-1]
    if kind == "positive":
        values = values @ values.conj().swapaxes(-2, -1) / n
    return values + np.eye(n) * (1 if kind == "positive" else 2 * n)


def has_special(op, index):
    """Whether a sample call draws special values, at which no derivative is checked."""
    args, kwargs = op.samples.calls[index]
    return any(isinstance(a, Draw) and a.special for a in (*args, *kwargs.values()))


def arguments(op, index, dtype, make, salt=""):
    """The arguments of one sample call; make turns an ndarray into a tensor, another salt draws other values."""
    seed = zlib.crc32(f"{full_name(op)}/{index}/{dtype}{salt}".encode())
    rng = np.random.default_rng(seed)

    def build(x):
        if isinstance(x, Draw):
            return make(draw(x, dtype, rng))
        if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
            return type(x)(build(i) for i in x)
        return x
    args, kwargs = op.samples.calls[index]
    return [build(a) for a in args], {k: build(v) for k, v in kwargs.items()}


def torch_function(op, torch):
    """Real torch's method or function for an op; None where torch has none of that name."""
    if op.samples.reference is not None:
        return op.samples.reference(torch)
    space = torch
    for part in op.namespace.split(".")[1:]:
        space = getattr(space, part)
    if op.is_function and hasattr(space, op.__name__):
        return getattr(space, op.__name__)
    return getattr(torch.Tensor, op.__name__, None) if op.is_method else None


def for_torch(args, kwargs, torch):
    """Arguments as real torch takes them: our dtypes become its own."""
    def own(x):
        return getattr(torch, x.name) if isinstance(x, dtype_class) else x
    return [own(a) for a in args], {k: own(v) for k, v in kwargs.items()}


def seen(op, result):
    """What of an op's result is compared."""
    return result if op.samples.seen is None else op.samples.seen(result)


def results_of(value):
    """The tensors and numbers of a result, flat."""
    if isinstance(value, (list, tuple)):
        return [r for v in value for r in results_of(v)]
    return [value]


class Answers:
    """Recorded answers: a table of {case: {"parts": ...} or {"error": ...}} and the arrays of the parts.

    All arrays of a dtype lie one after another in one array; a part is [dtype, shape, offset], or {"value": number}.
    """

    def __init__(self, path=None):
        self.table, self.arrays, self.sizes = {}, {}, {}
        if path is not None:
            import json
            with np.load(path) as file:
                self.arrays = {name: file[name] for name in file.files if name != "table"}
                self.table = json.loads(str(file["table"]))

    def part(self, array):
        """Store an array; what stands for it in the table."""
        name, shape = str(array.dtype), list(array.shape)
        offset = self.sizes.get(name, 0)
        self.sizes[name] = offset + array.size
        self.arrays.setdefault(name, []).append(array.reshape(-1))
        return [name, shape, offset]

    def array(self, part):
        """The array that an entry of the table stands for."""
        name, shape, offset = part
        return self.arrays[name][offset:offset + int(np.prod(shape))].reshape(shape)

    def save(self, path):
        import json
        np.savez_compressed(path, table=np.array(json.dumps(self.table, separators=(",", ":"))),
                            **{name: np.concatenate(chunks) for name, chunks in self.arrays.items()})
