from .contraction cimport Equation

cdef object contract(Equation e, tuple operands, str form)
