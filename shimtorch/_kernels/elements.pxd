"""Types of elements that loops are written for."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t

ctypedef double complex doublecomplex

# What is only moved, by its size.
ctypedef fused word:
    uint8_t
    int16_t
    float
    double
    doublecomplex

# What is added or compared.
ctypedef fused number:
    float
    double
    uint8_t
    int8_t
    int16_t
    int32_t
    int64_t

ctypedef fused real:
    float
    double


cdef inline int power_of(int itemsize) noexcept nogil:
    """The power of two that a size of 1 to 16 bytes is."""
    return 0 if itemsize == 1 else 1 if itemsize == 2 else 2 if itemsize == 4 else 3 if itemsize == 8 else 4
