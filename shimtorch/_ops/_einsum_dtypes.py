"""The dtypes of einsum: torch sums by ``sum``, which widens integers, and multiplies by ``mul`` or, to sum, ``bmm``."""
from .._core.dtype import bool as bool_
from .._core.dtype import float32, int64, promote_types, scalar_type


def check_one_dtype(operands):
    """Refuse operands of several dtypes, where products are not mixed."""
    for x in operands[1:]:
        if x.dtype is not operands[0].dtype:
            raise RuntimeError(f"expected scalar type {scalar_type(operands[0].dtype)} but found "
                               f"{scalar_type(x.dtype)}")


def dtypes_of(operands, terms, output, sizes):
    """The dtypes computed in and given, as codes; and whether integers may wrap in a narrower dtype between."""
    first, narrow = operands[0].dtype, False
    if not _inexact(first) or any([x.dtype is not first for x in operands]):
        common, summed, narrow = _common_dtype(operands, terms, output, sizes)
        if common is bool_ and summed:
            return (float32.code, bool_.code), False
    else:
        common = first
    if common.itemsize == 2 and common.is_floating_point and len(operands) > 1:
        return (float32.code, common.code), narrow
    return (common.code, common.code), narrow


def _common_dtype(operands, terms, output, sizes):
    """(dtype of the result, whether a product is summed, whether one is narrower), pair after pair from the left.

    What one operand alone is summed over comes first and widens integers; a pair that is not summed is promoted, one
    that is has to be of one dtype. Operands of one integer dtype are taken as one also where some of them are widened.
    """
    if len(operands) == 1:
        return _widened(operands[0].dtype, any([k not in output for k in terms[0]])), False, False
    pairs = [({k for k, n in zip(row, x.shape) if n != 1}, x.dtype) for row, x in zip(terms, operands)]
    mixed = len({dtype for _, dtype in pairs}) > 1 or operands[0].dtype is bool_
    counts, summed, between = {}, False, set()
    for row, _ in pairs:
        for k in row.difference(output):
            counts[k] = counts.get(k, 0) + 1
    a, a_dtype = pairs[0]
    for b, b_dtype in pairs[1:]:
        alone = {k for k in a ^ b if counts.get(k) == 1}
        a_dtype, b_dtype = _widened(a_dtype, not a.isdisjoint(alone)), _widened(b_dtype, not b.isdisjoint(alone))
        inside = {k for k in a & b if counts.get(k) == 2}
        for k in a & b & counts.keys():
            counts[k] -= 1
        if inside and any([sizes[k] == 0 for k in a | b]):
            a_dtype = b_dtype
        if inside and a_dtype is not b_dtype and mixed:
            if a_dtype is bool_:
                raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
            raise RuntimeError(f"expected scalar type {scalar_type(a_dtype)} but found {scalar_type(b_dtype)}")
        summed = summed or bool(inside)
        a, a_dtype = (a | b) - alone - inside, promote_types(a_dtype, b_dtype)
        between.add(a_dtype)
    return a_dtype, summed, any([x is not a_dtype and x is not bool_ and not _inexact(x) for x in between])


def _inexact(dtype):
    return dtype.is_floating_point or dtype.is_complex


def _widened(dtype, summed):
    """The dtype of a sum."""
    return int64 if summed and not _inexact(dtype) else dtype
