"""torch's promotion: the dtype in which tensors and Python numbers are computed together."""
from .dtype cimport (
    BOOL, CAT_COMPLEX, CAT_FLOAT, CATEGORY, COMPLEX64, COMPLEX128, FLOAT64, INT64, default_code, default_complex_code,
    dtype_of, promote_checked,
)
from .policy cimport policy
from .tensor cimport TensorBase

import numbers

from .dtype import scalar_type


cdef int number_code(object x) except -1:
    """The dtype that a Python number brings into promotion."""
    if type(x) is float:
        return default_code()
    if type(x) is bool:
        return BOOL
    if type(x) is int:
        return INT64
    if isinstance(x, numbers.Integral):
        return INT64
    if isinstance(x, numbers.Real):
        return default_code()
    if isinstance(x, numbers.Complex):
        return default_complex_code()
    if type(x).__name__ == "bool_" or type(x).__name__ == "bool":
        return BOOL
    raise TypeError(f"expected a Tensor or a number, got {type(x).__name__}")


cdef int combine(int higher, int lower) except -1:
    """torch's rule between a set of operands that counts more and one that counts less; -1 stands for none."""
    if higher < 0:
        return lower
    if lower < 0 or CATEGORY[higher] > CATEGORY[lower]:
        return higher
    if CATEGORY[higher] == CATEGORY[lower]:
        return higher
    if CATEGORY[higher] == CAT_FLOAT:      # lower is complex: keep the precision of higher
        return COMPLEX128 if higher == FLOAT64 else COMPLEX64
    return promote_checked(higher, lower)


cdef int result_code(object a, object b) except -1:
    """The dtype in which a and b (tensors or numbers) are computed: dimension beats 0-dim beats number."""
    cdef int code, level
    cdef int codes[3]
    cdef object x
    cdef TensorBase t
    if isinstance(a, TensorBase) and isinstance(b, TensorBase):
        if (<TensorBase>a).code == (<TensorBase>b).code:
            return (<TensorBase>a).code
        if not policy.promote_types and is_old(<TensorBase>a) and is_old(<TensorBase>b):
            return unpromoted_code(<TensorBase>a, <TensorBase>b)
    elif not policy.promote_types:
        return (<TensorBase>(a if isinstance(a, TensorBase) else b)).code
    codes[0] = codes[1] = codes[2] = -1
    for x in (a, b):
        if isinstance(x, TensorBase):
            t = <TensorBase>x
            level = 0 if t.ndim_ else 1
            code = t.code
        else:
            level = 2
            code = number_code(x)
        codes[level] = code if codes[level] < 0 else promote_checked(codes[level], code)
    level = 1 if codes[1] >= 0 else 2
    code = codes[1]
    if codes[2] >= 0:
        code = codes[2] if code < 0 else combine(code, codes[2])
    return code if codes[0] < 0 else combine(codes[0], code) if code >= 0 else codes[0]


cdef inline bint is_old(TensorBase t) noexcept:
    """Whether t has a dtype that there was before promotion; ops compute with the others also in eras without them."""
    return CATEGORY[t.code] != CAT_COMPLEX and t.code != BOOL


cdef int unpromoted_code(TensorBase a, TensorBase b) except -1:
    """Before promotion existed, only a 0-dim operand could have another dtype."""
    if b.ndim_ == 0:
        return a.code
    if a.ndim_ == 0:
        return b.code
    raise RuntimeError(policy.mixed_dtypes_error.format(a.type(), b.type(), scalar_type(a.dtype), scalar_type(b.dtype)))


def result_type(tensor1, tensor2):
    """The dtype of an arithmetic operation on two tensors or numbers."""
    return dtype_of(result_code(tensor1, tensor2))
