"""What a failed call meant for a user of the op: torch's words for missing, unknown and mistyped arguments."""
from .dtype import scalar_type
from .op import missing
from .tensor import TensorBase

# What torch expects of a parameter, by its name.
_TENSORS = {"self", "index", "indices", "mask", "mat", "mat1", "mat2", "vec", "vec1", "vec2", "batch1", "batch2",
            "tensor", "tensor1", "tensor2", "source", "condition", "values", "boundaries", "sorted_sequence", "end",
            "A", "B", "LU", "LD", "pivots", "LU_data", "LU_pivots", "tau", "input2", "input3"}
_TENSORS_OR_NUMBERS = {"other", "value", "src", "weight", "exponent", "fill_value"}
_INTS = {"dim", "dim0", "dim1", "dim2", "k", "chunks", "start", "length", "dimension", "step", "diagonal", "bins"}
_SIZES = {"size", "sizes", "shape", "dims"}
_BOOLS = {"keepdim", "descending", "largest", "unbiased", "include_self", "upper", "left", "unitriangular", "out_int32",
          "right", "invert", "assume_unique", "as_tuple", "return_complex"}


# Ops whose ``out=`` must have the dtype of the result; that of the others may be of the same or a higher category.
_EXACT_OUT = frozenset("""
    torch.addbmm torch.addmm torch.addmv torch.baddbmm torch.bmm torch.mm torch.mv torch.matmul torch.dot torch.vdot
    torch.inner torch.tensordot torch.chain_matmul torch.cross torch.gather torch.scatter torch.scatter_add
    torch.scatter_reduce torch.index_add torch.index_copy torch.index_reduce torch.index_select torch.take
    torch.take_along_dim torch.masked_select torch.where torch.diag torch.tril torch.triu torch.renorm torch.msort
    torch.softmax torch.log_softmax torch.logcumsumexp torch.norm torch.frobenius_norm torch.nuclear_norm torch.inverse
    torch.amax torch.amin torch.argmax torch.argmin torch.isin torch.searchsorted torch.bucketize torch.quantile
    torch.nanquantile torch.nan_to_num torch.nonzero torch.nonzero_static torch.histc torch.complex torch.polar
    torch.isneginf torch.isposinf torch.signbit torch.ormqr torch.lu_solve torch.float_power
    torch.linalg.cholesky torch.linalg.cross torch.linalg.det torch.linalg.eigvalsh torch.linalg.inv
    torch.linalg.ldl_solve torch.linalg.lu_solve torch.linalg.matmul torch.linalg.solve torch.linalg.solve_triangular
    torch.linalg.svdvals torch.linalg.vector_norm torch.linalg.matrix_norm torch.linalg.norm torch.linalg.vecdot
    torch.linalg.multi_dot torch.fft.fft torch.fft.ifft torch.fft.hfft torch.fft.ihfft torch.fft.irfft torch.fft.hfftn
    torch.fft.irfftn torch.fft.hfft2 torch.fft.irfft2 torch.nn.functional.linear torch.slice_scatter
    """.split())
# The same of loops that are not made for two dtypes.
_ONE_DTYPE = frozenset("""
    torch.abs torch.ceil torch.clamp torch.clamp_max torch.clamp_min torch.conj_physical torch.floor torch.frac
    torch.neg torch.round torch.sgn torch.sign torch.trunc torch.bitwise_not torch.nn.functional.gelu
    torch.nn.functional.softplus torch.nn.functional.softshrink torch.nn.functional.hardshrink
    torch.nn.functional.logsigmoid torch.heaviside
    """.split())
_TESTS = frozenset(("torch.all", "torch.any"))
_JOINING = frozenset(("torch.cat", "torch.stack", "torch.hstack", "torch.vstack", "torch.dstack", "torch.column_stack"))
_C_NAMES = {"bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
            "int64": "long int", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float",
            "float64": "double", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


def check_out_dtype(op, result, out, lower):
    """Refuse an ``out=`` of another dtype than the result's where the op takes none; lower: of a lower category."""
    name = f"{op.namespace}.{op.__name__}"
    if name in _EXACT_OUT or name.endswith("_copy"):
        expected, got = (_C_NAMES.get(d.name, d.name) for d in (result, out))
        raise RuntimeError(f"Expected out tensor to have dtype {expected}, but got {got} instead")
    if name in _ONE_DTYPE:
        raise RuntimeError(f"Found dtype {scalar_type(out)} but expected {scalar_type(result)}")
    if name in _TESTS and out.name not in ("bool", "uint8"):
        raise RuntimeError(f"{op.__name__} only supports bool tensor for result, got: {scalar_type(out)}")
    if name in _JOINING and lower:
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {scalar_type(out)}")


def describe(op, args, kwargs):
    """The TypeError that torch raises for these arguments; None if they are of the types that it takes."""
    space = op.namespace.rpartition(".")[2]
    name = f"{space}_{op.__name__}" if space in ("linalg", "fft", "special") else op.__name__
    params = op.params
    positional = params[:op.n_positional]
    if op.has_varargs and op.takes_list:
        position, wrong = next(((i, a) for i, a in enumerate(args) if not isinstance(a, (TensorBase, tuple, list))),
                               (0, None))
        if wrong is not None or None in args:
            return TypeError(f"expected Tensor as element {position} in argument 0, but got {type(wrong).__name__}")
    if op.has_varargs and params[-1] in _SIZES:
        given = args[len(positional):]
        given = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
        wrong = next((i for i, a in enumerate(given) if not hasattr(a, "__index__") or isinstance(a, str)), None)
        if wrong or wrong == 0 and isinstance(given[0], (tuple, list, TensorBase)):
            return TypeError(f"{name}(): argument '{params[-1]}' failed to unpack the object at pos {wrong + 1} with "
                             f"error \"type must be tuple of ints,but got {_type_name(given[wrong])}\"")
    if len(args) > len(positional) and not op.has_varargs:
        return _wrong_form(op, args, kwargs) or _too_many(op, len(positional), len(args))
    for key in kwargs:
        if key not in params:
            return TypeError(f"{name}() got an unexpected keyword argument '{_shown(key)}'")
    values = dict(zip(positional, args)) | kwargs
    absent = [_shown(p) for p, default in zip(params, op.defaults) if default is missing and p not in values]
    if absent:
        return _wrong_form(op, args, kwargs) or TypeError(
            f"{name}() missing {len(absent)} required positional argument{'s' if len(absent) == 1 else ''}: "
            + ", ".join(f'"{p}"' for p in absent))
    optional = {p for p, default in zip(params, op.defaults) if default is not missing}
    for position, (param, value) in enumerate(values.items()):
        expected = _expectation(op, param, value, optional)
        if expected is None and not position and (value is None or isinstance(value, str)) and param not in optional:
            expected = "tuple of Tensors" if op.takes_list else "Tensor"
        if expected is not None:
            place = f" (position {position + op.is_function})" if position < len(args) else ""
            return (param != "self" and _wrong_form(op, args, kwargs)) or TypeError(
                f"{name}(): argument '{_shown(param)}'{place} must be {expected}, not {type(value).__name__}")
    return None


def _expectation(op, param, value, optional):
    """What a value should have been; None if it is that."""
    if value is None and param in optional or isinstance(value, TensorBase):
        return None if param not in _BOOLS or value is None else "bool"
    if param in _TENSORS:
        return None if op.takes_list else "Tensor"
    if param in _TENSORS_OR_NUMBERS:
        number = isinstance(value, (bool, int, float, complex)) or hasattr(value, "__index__")
        return None if number and (param != "other" or not op.tensors_only) else "Tensor"
    if param in _INTS:
        if isinstance(value, (tuple, list)):
            return None
        return None if hasattr(value, "__index__") else "int"
    if param in _BOOLS:
        return None if isinstance(value, bool) else "bool"
    return None


def _shown(param):
    return "input" if param == "self" else param


def _too_many(op, limit, n):
    if limit == 1 and not op.is_function:
        return TypeError(f"TensorBase.{op.__name__}() takes no arguments ({n - 1} given)")
    return TypeError(f"{op.__name__}() takes {limit} positional argument{'' if limit == 1 else 's'} but {n} "
                     f"{'was' if n == 1 else 'were'} given")


def _wrong_form(op, args, kwargs):
    """For an op that can be called in several forms: none of them fits."""
    if not op.overloads:
        return None
    given = [_type_name(a) for a in (args if op.is_function else args[1:])]
    given += [f"{k}={_type_name(v)}" for k, v in kwargs.items()]
    return TypeError(f"{op.__name__}() received an invalid combination of arguments - got ({', '.join(given)}), but "
                     f"expected one of:\n * ({', '.join(_shown(p) for p in op.params)})")


def _type_name(x):
    return "Tensor" if isinstance(x, TensorBase) else type(x).__name__
