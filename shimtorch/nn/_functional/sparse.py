"""Look-ups in tables of rows: embedding, embedding_bag, one_hot."""

from ... import _ops
from ..._core.dtype import int32, int64
from ..._ops.bags import reduce_bags

_lookup = _ops.embedding_lookup


def _renorm_rows(weight, indices, max_norm, norm_type):
    """Scale the rows of *weight* that *indices* name down to *max_norm*, in place and outside autograd."""
    from ... import no_grad

    with no_grad():
        used = indices.reshape(-1).unique()
        rows = weight.detach()[used]
        norms = rows.norm(norm_type, -1, keepdim=True)
        scale = _ops.where(norms > max_norm, max_norm / (norms + 1e-7), _ops.ones_like(norms))
        weight.detach()[used] = rows * scale


def _no_grad_embedding_renorm_(weight, input, max_norm, norm_type):
    _renorm_rows(weight, input, max_norm, norm_type)


def _sparse_rows():
    """The look-up whose gradient is a sparse tensor, made on first use."""
    global _SparseRows
    if _SparseRows is None:
        from ...autograd import Function

        class EmbeddingBackward(Function):
            @staticmethod
            def forward(ctx, weight, indices, padding_idx, scale_grad_by_freq):
                ctx.scale_grad_by_freq = scale_grad_by_freq
                ctx.indices = indices
                ctx.size = weight.shape
                ctx.padding_idx = padding_idx
                return weight.index_select(0, indices)

            @staticmethod
            def backward(ctx, grad):
                if ctx.scale_grad_by_freq:
                    raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
                indices = ctx.indices
                if ctx.padding_idx >= 0:
                    kept = indices != ctx.padding_idx
                    indices, grad = indices[kept], grad[kept]
                return _ops.sparse_coo_tensor(indices.unsqueeze(0), grad, ctx.size), None, None, None

        _SparseRows = EmbeddingBackward
    return _SparseRows


_SparseRows = None


def _rows(weight, indices, padding_idx, scale_grad_by_freq, sparse):
    """``weight[indices]`` with the gradient the options ask for; *padding_idx* is -1 if there is none."""
    if not sparse and not scale_grad_by_freq:
        return _lookup(weight, indices, padding_idx)
    flat = indices.reshape(-1)
    if sparse:
        rows = _sparse_rows().apply(weight, flat, padding_idx, scale_grad_by_freq)
    else:
        rows = _lookup(weight, flat, padding_idx)
        scale = (1.0 / flat.bincount(minlength=weight.size(0)))[flat].to(rows.dtype).unsqueeze(-1)
        share = rows * scale
        rows = rows.detach() - share.detach() + share  # the value of a row, a share of its gradient
    return rows.view(*indices.shape, weight.size(1))


def _check_indices(name, input):
    if input.dtype not in (int64, int32):
        raise RuntimeError(
            f"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {input.type()} instead (while checking arguments for {name})"
        )


def embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    """The rows of *weight* (V, D) that *input* names: (...,) gives (..., D).

    The row *padding_idx* gets no gradient; rows longer than *max_norm* are shortened in place first; with *sparse*
    the gradient of *weight* is a sparse tensor.
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        if not -weight.size(0) <= padding_idx < weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= weight.size(0)
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check_indices("embedding", input)
    if max_norm is not None:
        _renorm_rows(weight, input, max_norm, norm_type)
    return _rows(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Sum, mean or maximum over bags of rows of *weight*.

    The bags are the rows of a 2-d *input*, or the stretches of a 1-d *input* that start at *offsets*.
    """
    if weight.dtype == int64 and input.is_floating_point():
        import warnings

        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` "
            "is deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        sizes = _ops.full((input.size(0),), input.size(1), dtype=int64, device=input.device)
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        if include_last_offset:
            if not offsets.numel():
                raise RuntimeError("include_last_offset: number of offset should be at least 1")
            end = int(offsets[-1])
            offsets = offsets[:-1]
            input, per_sample_weights = input[:end], None if per_sample_weights is None else per_sample_weights[:end]
        _check_offsets(offsets, input.numel())
        sizes = offsets.to(int64).diff(append=offsets.new_full((1,), input.numel()).to(int64)).clamp(min=0)
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max":
        if scale_grad_by_freq:
            raise ValueError("max mode does not support scaling the gradient by the frequency")
        if sparse:
            raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    _check_indices("embedding_bag", input)
    if max_norm is not None:
        _renorm_rows(weight, input, max_norm, norm_type)
    if padding_idx is not None:
        padding_idx %= weight.size(0)
    return _reduce_bags(
        input, weight, sizes, mode, scale_grad_by_freq, sparse, per_sample_weights, padding_idx
    )


def _check_offsets(offsets, size):
    if offsets.numel() and int(offsets[0]) != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
            f"However, got {int(offsets[0])}"
        )
    if offsets.numel() and int(offsets[-1]) > size:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {size} but got offsets[-1] of {int(offsets[-1])}"
        )


def _reduce_bags(flat, weight, sizes, mode, scale_grad_by_freq, sparse, per_sample_weights, padding_idx):
    bags = sizes.numel()
    if (weight.device.type == "cpu" and weight.dtype.name in ("float32", "float64")
            and not (weight.requires_grad and (sparse or scale_grad_by_freq))
            and (per_sample_weights is None or per_sample_weights.dtype == weight.dtype)):
        if padding_idx is not None:
            kept = flat != padding_idx
            sizes = _ops.arange(bags).repeat_interleave(sizes)[kept].bincount(minlength=bags)
            flat, per_sample_weights = flat[kept], None if per_sample_weights is None else per_sample_weights[kept]
        starts = _ops.cat([sizes.new_zeros(1), sizes.cumsum(0)])
        return reduce_bags(weight, flat, starts, mode, per_sample_weights)
    bag = _ops.arange(bags, device=flat.device).repeat_interleave(sizes)
    if padding_idx is not None:
        kept = flat != padding_idx
        flat, bag = flat[kept], bag[kept]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights[kept]
    rows = _rows(weight, flat, -1, scale_grad_by_freq, sparse)
    if mode == "max":
        return _max_of_bags(rows, bag, bags)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    result = rows.new_zeros((bags, weight.size(1))).index_add(0, bag, rows)
    if mode == "mean":
        counts = bag.bincount(minlength=bags).clamp(min=1)
        result = result / counts.to(rows.dtype).unsqueeze(-1)
    return result


def _max_of_bags(rows, bag, bags):
    """The maximum of every bag; zeros for an empty one."""
    counts = bag.bincount(minlength=bags).tolist()
    results, start = [], 0
    for count in counts:
        part = rows.narrow(0, start, count)
        results.append(part.max(0)[0] if count else rows.new_zeros(rows.size(1)))
        start += count
    return _ops.stack(results) if results else rows.new_zeros((0, rows.size(1)))


def one_hot(tensor, num_classes=-1):
    """int64 rows with a one at the position *tensor* names: (...) gives (..., num_classes)."""
    if tensor.dtype != int64:
        raise RuntimeError(
            "one_hot is only applicable to index tensor of type LongTensor."
        )
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return tensor.new_zeros((*tensor.shape, num_classes))
    if int(tensor.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = int(tensor.max())
    if num_classes == -1:
        num_classes = largest + 1
    elif num_classes <= largest:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return tensor.new_zeros((*tensor.shape, num_classes)).scatter_(-1, tensor.unsqueeze(-1), 1)
