"""matmul: the product that its operands ask for. Those of batches are contractions, whose equations are kept."""
from .contraction cimport Equation, labelled
from .dtype cimport BOOL
from .einsum cimport contract
from .tensor cimport TensorBase

cdef enum:
    KEPT = 6                           # numbers of dimensions up to which equations are at hand

cdef list equations = [None] * (KEPT * KEPT)
cdef object mm, mv, dot, refuse


def set_products(mm_, mv_, dot_, refuse_):
    """Name the ops for vectors and matrices, and the function that says what is wrong with operands."""
    global mm, mv, dot, refuse
    mm, mv, dot, refuse = mm_, mv_, dot_, refuse_


def matmul(TensorBase self not None, TensorBase other not None):
    """The matrix product with broadcast batches; 1-d operands count as row and column."""
    cdef int a = self.ndim_, b = other.ndim_, i
    cdef Py_ssize_t m, n
    cdef Equation e
    if a == 2 and b == 2:
        return mm(self, other)
    if a == 1 and b == 1:
        return dot(self, other)
    if a == 2 and b == 1:
        return mv(self, other)
    if a == 0 or b == 0 or self.shape_[a - 1] != other.shape_[b - 2 if b > 1 else 0] or self.code != other.code or (
            self.code == BOOL):
        refuse(self, other)
    for i in range(3, min(a, b) + 1):
        m, n = self.shape_[a - i], other.shape_[b - i]
        if m != n and m != 1 and n != 1:
            refuse(self, other)
    if a >= KEPT or b >= KEPT:
        e = equation_for(a, b)
    else:
        e = <Equation>equations[a * KEPT + b]
        if e is None:
            e = equations[a * KEPT + b] = equation_for(a, b)
    return contract(e, (self, other), form_of(self, other))


cdef Equation equation_for(int a, int b):
    """The Equation for operands of a and b dimensions; the batch's are -3, -4 ... from the right."""
    left, right = tuple(range(-a, -2)), tuple(range(-b, -2))
    return labelled(((*left, 0, 1) if a > 1 else (1,), (*right, 1, 2) if b > 1 else (1,)),
                    (*range(-max(a, b), -2), *(0,)[:a > 1], *(2,)[:b > 1]))


cdef str form_of(TensorBase self, TensorBase other):
    """The name of the product as torch computes it: batches of one matrix are folded into its rows."""
    cdef int a = self.ndim_, b = other.ndim_
    if a == 1:
        return "row" if b == 2 else "rows"
    if b < 3:
        return "matmul"
    if a == 2:
        return "turned"
    return "turned one" if lone(self) and not lone(other) else "matmul"


cdef bint lone(TensorBase t) noexcept:
    """Whether a batch has one matrix."""
    return t.ndim_ < 3 or t.shape_[t.ndim_ - 1] * t.shape_[t.ndim_ - 2] == t.count
