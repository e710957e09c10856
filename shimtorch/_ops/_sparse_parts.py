"""The door to what sparse tensors are made of: opened, with all that sparse operands need, at the first sparse tensor.

``import shimtorch`` pays for none of it: the first attribute that is asked for imports the compiled parts and declares
to the ops what they do when an operand is sparse.
"""
from .._core import METHODS, OPS
from .._core.device import sparse_coo, strided
from .._core.dtype import int64


class _Parts:
    """``_core.sparse`` and ``_core.sparse_products``, imported when first used."""

    opened = False

    def __getattr__(self, name):
        from .._core import sparse as held
        from .._core import sparse_products as products
        for module in (held, products):
            self.__dict__.update({key: value for key, value in vars(module).items() if key[0] != "_"})
        from . import (  # noqa: F401  (each says what some ops do to sparse operands)
            sparse_arithmetic,
            sparse_arranging,
            sparse_compressed,
            sparse_copying,
            sparse_indexing,
            sparse_pointwise,
            sparse_products,
            sparse_reduction,
            sparse_shape,
        )
        _refuse_others()
        _Parts.opened = True
        return self.__dict__[name]


parts = _Parts()


def on_device():
    """What takes the place of NumPy and the kernels of the CPU for tensors on a device."""
    from .._gpu import sparse
    return sparse


def counted(n, like):
    """The numbers 0 ... n - 1 as int64, on the device of a tensor."""
    return OPS["torch.arange"](n, dtype=int64, device=like.device)


checks = {"invariants": False}         # what torch.sparse.check_sparse_tensor_invariants says

# Ops without a rule of their own that come out right, or refuse, through the ops that they call.
_COMPOSED = set("""
    __rtruediv adjoint atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to chain_matmul chunk diag diagflat
    diff dist dsplit dstack expand_as fill flatten fliplr flipud float_power frobenius_norm hsplit hstack is_nonzero
    is_same_size linalg_norm lobpcg matmul matrix_norm matrix_power movedim multi_dot norm nuclear_norm pca_lowrank
    ravel reshape_as resolve_conj resolve_neg rot90 rsub split svd_lowrank tensor_split tile to trace trapezoid type_as
    unflatten unsafe_chunk unsafe_split unsafe_split_with_sizes vecdot vector_norm view_as vsplit vstack where
""".split())

# What users call where an op of another name would refuse.
_CALLED = {
    "__rfloordiv": "floor_divide", "__rmod": "remainder", "__rpow": "pow",
    "_unit_matrices": "matrix_power", "_xlog1py": "special.xlog1py", "_zeta": "special.zeta",
    "conv_gather": "convolution", "conv_spread": "convolution", "normalise_rows": "layer_norm or group_norm",
    "pool_highest": "max_pool", "pool_max": "max_pool", "pool_mean": "avg_pool"}


def _refuse_others():
    """Let every composite op that does not know of sparse operands refuse them, before it looks for their memory."""
    for op in {id(op): op for table in (OPS, METHODS) for op in table.values()}.values():
        name = op.__name__
        if op.sparse is None and not hasattr(op, "base") and (name in _CALLED or not (
                op.differentiable is not None or name in _COMPOSED or name.endswith("_copy")
                or ".sparse" in op.forward.__module__)):
            op.sparse = _refusal(_CALLED.get(name, name))


def refuse_new():
    """What `_refuse_others` does, for ops that were declared after the first sparse tensor."""
    if parts.opened:
        _refuse_others()


def _refusal(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"{name}: not implemented for sparse tensors; use to_dense() first")
    return refuse


def on_sparse(*names, inplace=False, composite=False, composed=False, compressed=False):
    """A decorator: the function is what the named ops do when an operand is sparse; inplace: their in-place forms.

    composite: the ops are differentiated through what they call, so the function must call recorded ops itself, or
    make no result that could have a gradient. composed: so it is for sparse operands alone. compressed: the function
    knows of compressed layouts; else it is given their twins in coordinate format, and its result is brought back.
    """
    def declare(function):
        served = function if compressed or inplace else through_coo(function)
        for name in names:
            for op in _ops_named(name + "_" if inplace else name):
                if not inplace and not composed and composite != (op.differentiable is None):
                    raise TypeError(f"{name}: composite={composite} does not fit the op")
                op.sparse, op.sparse_composed = served, composed
        return served
    return declare


def through_coo(function):
    """The function with operands in compressed layouts replaced, and its result in the layout of the first."""
    import functools

    @functools.wraps(function)
    def forward(*args, **kwargs):
        for x in args:
            if type(x) in (list, tuple):
                if any(is_compressed(y) for y in x):
                    return _call_coo(function, args, kwargs)
            elif is_compressed(x):
                return _call_coo(function, args, kwargs)
        return function(*args, **kwargs)
    return forward


def _call_coo(function, args, kwargs):
    from .sparse_compressed import block_of, like, to_coo
    first = []

    def exchange(x):
        if type(x) in (list, tuple):
            return type(x)([exchange(y) for y in x])
        if not is_compressed(x):
            return x
        first.append(x)
        return to_coo(x)
    result = function(*[exchange(x) for x in args], **kwargs)
    layout, block = first[0].layout, block_of(first[0])
    return (tuple([like(r, layout, block) for r in result]) if type(result) is tuple else like(result, layout, block))


def _ops_named(name):
    places = ((OPS, "torch." + name), (OPS, "torch.nn.functional." + name), (METHODS, name))
    found = [table[key] for table, key in places if key in table]
    if not found:
        raise LookupError(f"no op is named '{name}'")
    return found


def is_coo(x):
    """Whether x is a sparse tensor in coordinate format."""
    return getattr(x, "layout", None) is sparse_coo


def is_compressed(x):
    """Whether x is a sparse tensor in a compressed format."""
    layout = getattr(x, "layout", sparse_coo)
    return layout is not sparse_coo and layout is not strided


def refuse_dense(x, name):
    """torch's error where an op that needs a sparse tensor is given a dense one."""
    if not is_coo(x):
        raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {layout_name(x)}")


_LAYOUT_NAMES = {"strided": "Strided", "sparse_coo": "Sparse", "sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc",
                 "sparse_bsr": "SparseBsr", "sparse_bsc": "SparseBsc"}


def layout_name(x):
    """The name of a layout, or of a tensor's, as torch's error messages have it."""
    return _LAYOUT_NAMES[getattr(x, "layout", x).name]
