# cython: binding=False
"""Element types, their promotion, and the default floating point type."""
import numpy as np

cimport numpy as cnp

from .type_names import assign_module


cdef class dtype:
    """The type of a tensor's elements, such as ``torch.float32``.

    Attributes: ``itemsize`` (bytes), ``is_floating_point``, ``is_complex``, ``is_signed``.
    """

    def __init__(self):
        raise TypeError("cannot create 'torch.dtype' instances")

    def __repr__(self):
        return "torch." + self.name

    def __reduce__(self):
        return self.name

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    @property
    def is_floating_point(self):
        return self.category == CAT_FLOAT

    @property
    def is_complex(self):
        return self.category == CAT_COMPLEX

    @property
    def is_signed(self):
        return not (self.category == CAT_BOOL or self.name[0] == "u")

    def to_real(self):
        """The dtype of this one's real part."""
        return dtype_of(real_code(self.code))

    def to_complex(self):
        """The complex dtype whose parts have this dtype."""
        if self.code == FLOAT64 or self.code == COMPLEX128:
            return dtype_of(COMPLEX128)
        return dtype_of(COMPLEX64)


# name, bytes, category, NumPy type number; in the order of the codes
cdef list _TABLE = [
    ("bool", 1, CAT_BOOL, cnp.NPY_BOOL),
    ("uint8", 1, CAT_INT, cnp.NPY_UINT8),
    ("int8", 1, CAT_INT, cnp.NPY_INT8),
    ("int16", 2, CAT_INT, cnp.NPY_INT16),
    ("int32", 4, CAT_INT, cnp.NPY_INT32),
    ("int64", 8, CAT_INT, cnp.NPY_INT64),
    ("float16", 2, CAT_FLOAT, cnp.NPY_FLOAT16),
    ("bfloat16", 2, CAT_FLOAT, -1),
    ("float32", 4, CAT_FLOAT, cnp.NPY_FLOAT32),
    ("float64", 8, CAT_FLOAT, cnp.NPY_FLOAT64),
    ("complex64", 8, CAT_COMPLEX, cnp.NPY_COMPLEX64),
    ("complex128", 16, CAT_COMPLEX, cnp.NPY_COMPLEX128),
    ("uint16", 2, CAT_INT, cnp.NPY_UINT16),
    ("uint32", 4, CAT_INT, cnp.NPY_UINT32),
    ("uint64", 8, CAT_INT, cnp.NPY_UINT64),
]

cdef list _DTYPES = []
cdef dict _BY_NUMPY = {}
cdef int PROMOTE[15][15]
cdef int _default = FLOAT32

_ALIASES = {
    "float": "float32", "double": "float64", "half": "float16", "short": "int16", "int": "int32",
    "long": "int64", "cfloat": "complex64", "cdouble": "complex128",
}


cdef _make_dtypes():
    cdef dtype d
    for code, (name, size, category, number) in enumerate(_TABLE):
        d = dtype.__new__(dtype)
        d.name, d.code, d.itemsize, d.category, d.npnum = name, code, size, category, number
        _DTYPES.append(d)
        ITEMSIZE[code] = size
        CATEGORY[code] = category
        NPNUM[code] = number
        if number >= 0:
            d.np = np.dtype(name)
            _BY_NUMPY[d.np] = code


cdef int _promote_pair(int a, int b):
    """torch's promotion of two dtypes of dimensioned tensors."""
    if a == b:
        return a
    if CATEGORY[a] > CATEGORY[b]:
        a, b = b, a
    if CATEGORY[a] < CATEGORY[b]:          # b's category wins, with it b's type; only complex looks at a's precision
        return COMPLEX128 if b == COMPLEX64 and a == FLOAT64 else b
    if CATEGORY[a] == CAT_INT:
        return _promote_ints(a, b)
    if CATEGORY[a] == CAT_FLOAT and ITEMSIZE[a] == ITEMSIZE[b]:
        return FLOAT32                     # float16 with bfloat16
    return a if ITEMSIZE[a] > ITEMSIZE[b] else b


cdef int _promote_ints(int a, int b):
    cdef bint ua = _DTYPES[a].name[0] == "u", ub = _DTYPES[b].name[0] == "u"
    if ua == ub:
        return a if ITEMSIZE[a] > ITEMSIZE[b] else b
    cdef int u = a if ua else b, s = b if ua else a
    if ITEMSIZE[s] > ITEMSIZE[u]:
        return s
    if u == UINT8:
        return INT16
    return -1                              # torch has no common type for these


_make_dtypes()
for _i in range(NDTYPES):
    for _j in range(NDTYPES):
        PROMOTE[_i][_j] = _promote_pair(_i, _j)

for _d in _DTYPES:
    globals()[_d.name] = _d
for _alias, _name in _ALIASES.items():
    globals()[_alias] = globals()[_name]


_SCALAR_TYPES = ("Bool", "Byte", "Char", "Short", "Int", "Long", "Half", "BFloat16", "Float", "Double", "ComplexFloat",
                 "ComplexDouble", "UInt16", "UInt32", "UInt64")


def scalar_type(dtype d not None):
    """The name that torch's error messages use for a dtype: Float, Long ..."""
    return _SCALAR_TYPES[d.code]


cdef dtype dtype_of(int code):
    return <dtype>_DTYPES[code]


cdef int promote(int a, int b) noexcept nogil:
    """The common dtype of two codes, or -1 when torch has none."""
    return PROMOTE[a][b]


cdef object numpy_dtype(int code):
    cdef dtype d = <dtype>_DTYPES[code]
    if d.np is None:
        import ml_dtypes
        d.np = np.dtype(ml_dtypes.bfloat16)
        _BY_NUMPY[d.np] = code
    return d.np


cdef int code_of_numpy(object np_dtype) except -1:
    code = _BY_NUMPY.get(np_dtype)
    if code is None:
        if not np_dtype.isnative:
            code = _BY_NUMPY.get(np_dtype.newbyteorder("="))
        elif np_dtype.name == "bfloat16":
            numpy_dtype(BFLOAT16)
            code = _BY_NUMPY.get(np_dtype)
    if code is None:
        raise TypeError(
            f"can't convert np.ndarray of type {np_dtype.type.__module__}.{np_dtype.type.__name__}. The only supported "
            "types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
            "uint16, uint8, and bool.")
    return code


cdef int as_code(object obj) except -1:
    """The code of a dtype given by a user: a torch dtype, or Python's bool, int, float, complex."""
    if type(obj) is dtype:
        return (<dtype>obj).code
    if isinstance(obj, type) and obj in PYTHON_TYPES:
        return (<dtype>PYTHON_TYPES[obj]).code
    if getattr(obj, "refuses", False):
        obj()                          # a dtype that is not there: it says so itself
    raise TypeError(f"dtype must be torch.dtype, not {type(obj).__name__}")

import builtins

# Python's types as dtypes: those that hold the same numbers, whatever the default dtype is.
PYTHON_TYPES = {builtins.float: dtype_of(FLOAT64), builtins.int: dtype_of(INT64), builtins.bool: dtype_of(BOOL),
                builtins.complex: dtype_of(COMPLEX128)}


def as_dtype(obj):
    """The dtype that a user names by a torch dtype or a type of Python."""
    return dtype_of(as_code(obj))


cdef int real_code(int code) noexcept:
    return FLOAT32 if code == COMPLEX64 else FLOAT64 if code == COMPLEX128 else code


cdef int default_code() noexcept:
    return _default


cdef int default_complex_code() noexcept:
    return COMPLEX128 if _default == FLOAT64 else COMPLEX64


def get_default_dtype():
    """The floating point dtype of tensors made from Python floats."""
    return dtype_of(_default)


def set_default_dtype(d):
    """Set the dtype of tensors made from Python floats; it must be a floating point dtype."""
    global _default
    if type(d) is not dtype:
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if CATEGORY[(<dtype>d).code] != CAT_FLOAT:
        raise TypeError("only floating-point types are supported as the default type")
    _default = (<dtype>d).code


def promote_types(type1, type2):
    """The smallest dtype of the promotion lattice that is no smaller than either argument."""
    return dtype_of(promote_checked(as_code(type1), as_code(type2)))


cdef int promote_checked(int a, int b) except -1:
    cdef int code = PROMOTE[a][b]
    if code < 0:
        raise RuntimeError(f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                           f"{_DTYPES[a].name} and {_DTYPES[b].name}")
    return code


def can_cast(from_, to):
    """Whether torch's casting rules allow ``from_`` to become ``to`` in an in-place result."""
    cdef int a = as_code(from_), b = as_code(to)
    if CATEGORY[a] == CAT_INT and CATEGORY[b] == CAT_INT:
        return True
    return CATEGORY[a] <= CATEGORY[b]


assign_module(dtype, "shimtorch")


def all_dtypes():
    """Every dtype, in the order of the codes."""
    return tuple(_DTYPES)


def from_numpy_dtype(np_dtype):
    """The torch dtype of a NumPy dtype."""
    return dtype_of(code_of_numpy(np.dtype(np_dtype)))


def to_numpy_dtype(d):
    """The NumPy dtype of a torch dtype."""
    return numpy_dtype(as_code(d))
