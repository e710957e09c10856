"""The greatest and least numbers of each dtype, and the bounds of whole random numbers."""
from .._kernels.random cimport st_draw_params
from .dtype cimport CAT_COMPLEX, CAT_FLOAT, CATEGORY
from .policy cimport policy
from .tensor cimport TensorBase

# Names in C++, greatest and least values, and significant bits, by dtype code.
C_NAMES = ("bool", "unsigned char", "signed char", "short", "int", "long", "c10::Half", "c10::BFloat16", "float",
           "double", "c10::complex<float>", "c10::complex<double>", "unsigned short", "unsigned int", "unsigned long")
GREATEST = (1, 255, 127, 2**15 - 1, 2**31 - 1, 2**63 - 1, 65504.0, 255 * 2.0**120, (2 - 2.0**-23) * 2.0**127,
            1.7976931348623157e308, None, None, 2**16 - 1, 2**32 - 1, 2**64 - 1)
LEAST = (0, 0, -128, -2**15, -2**31, -2**63, -65504.0, -255 * 2.0**120, -(2 - 2.0**-23) * 2.0**127,
         -1.7976931348623157e308, None, None, 0, 0, 0)
DIGITS = (1, 8, 7, 15, 31, 63, 11, 8, 24, 53, 0, 0, 16, 32, 64)


cdef int set_range(TensorBase t, object low, object high, st_draw_params* params) except -1:
    """Check the bounds as torch does, and trim them to what a floating point dtype can tell apart; high may be None."""
    cdef int digits = DIGITS[t.code]
    cdef bint is_float = CATEGORY[t.code] == CAT_FLOAT
    if CATEGORY[t.code] == CAT_COMPLEX:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    low = as_int64(low)
    if high is None:
        if low == -2**63:
            params.base, params.range = 0, 0
            return 0
        last = 2**digits if is_float else min(GREATEST[t.code], 2**63 - 1)
        if is_float:
            low = trim_low(low, digits)
        if low > last:
            raise RuntimeError(f"random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to "
                               f"dtype, but got from={low} > to_inc={last}")
    else:
        high = as_int64(high)
        if low >= high:
            raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        if is_float and policy.random_fused:
            low, high = trim_low(low, digits), trim_high(high, digits)
            if low >= high:
                raise RuntimeError(f"random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but "
                                   f"got from={low} >= to={high}")
        last = high - 1
    check_bounds(t, low, last, digits if is_float else 0)
    params.base, params.range = low, (last - low + 1) & 0xFFFFFFFFFFFFFFFF
    return 0


cdef object as_int64(object number):
    number = number.__index__()
    if not -0x8000000000000000 <= number <= 0x7FFFFFFFFFFFFFFF:
        if policy.version >= "2":
            raise ValueError("Overflow when unpacking long long")
        raise RuntimeError("Overflow when unpacking long")
    return number


cdef object rounded(object number, int digits):
    """A whole number rounded to so many significant bits, ties to even."""
    shift = abs(number).bit_length() - digits
    if shift <= 0:
        return number
    sign = -1 if number < 0 else 1
    quotient, rest = divmod(abs(number), 1 << shift)
    half = 1 << (shift - 1)
    if rest > half or (rest == half and quotient & 1):
        quotient += 1
    return sign * (quotient << shift)


cdef object trim_low(object low, int digits):
    """The least bound that the dtype does not round down below ``low``."""
    after = rounded(low + 1, digits)
    if after >= low:
        return low
    return after + (1 << (abs(low + 1).bit_length() - digits))


cdef object trim_high(object high, int digits):
    """The greatest bound whose last number the dtype does not round up to ``high``."""
    before = rounded(high - 1, digits)
    if before < high or before > 0x7FFFFFFFFFFFFFFF:       # the latter overflows in torch, and changes nothing
        return high
    return before - (1 << (abs(high - 1).bit_length() - digits))


cdef int check_bounds(TensorBase t, object low, object last, int digits) except -1:
    least, greatest = LEAST[t.code], GREATEST[t.code]
    for name, bound in (("from", low), ("to - 1", last)):
        if not least <= bound <= greatest:
            raise RuntimeError(f"{name} is out of bounds for {C_NAMES[t.code]}")
    if digits:
        for name, bound in (("from", low), ("to - 1", last)):
            if not -2**digits <= bound <= 2**digits:
                import warnings
                warnings.warn(f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations "
                              f"{C_NAMES[t.code]} can support discrete uniform distribution only within this range. "
                              "This warning will become an error in version 1.7 release, please fix the code in "
                              "advance",
                              UserWarning, stacklevel=2)
    return 0
