"""Attention: the scaled dot product, and whole multi-head attention."""

import math

from ... import _ops
from ..._core.dtype import bool as bool_dtype
from .dropout import dropout
from .linear import linear
from .padding import pad


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """``softmax(query @ key.T * scale + mask) @ value``: (..., L, E), (..., S, E), (..., S, Ev) give (..., L, Ev).

    attn_mask is added, or if bool says what takes part; with *is_causal* position i sees positions up to i. The scale
    is 1 / sqrt(E) unless given. With *enable_gqa* groups of query heads share a head of key and value.
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim(): "
            f"{query.dim()}, key.dim(): {key.dim()} and value.dim(): {value.dim()} instead."
        )
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
        value = value.repeat_interleave(query.size(-3) // value.size(-3), -3)
    if scale is None:
        scale = 1.0 / math.sqrt(query.size(-1)) if query.size(-1) else 1.0
    scores = (query * scale).matmul(key.transpose(-2, -1))
    if is_causal:
        later = _ops.full(scores.shape[-2:], -math.inf, dtype=scores.dtype, device=scores.device).triu(1)
        scores = scores + later
    elif attn_mask is not None:
        if attn_mask.dtype is bool_dtype:
            scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)
        else:
            scores = scores + attn_mask
    weights = scores.softmax(-1)
    if attn_mask is not None and scores.size(-1):
        nothing = scores.detach().amax(-1, keepdim=True) == -math.inf  # where nothing takes part, the result is 0
        if nothing.any():
            weights = weights.masked_fill(nothing, 0.0)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p, True)
    return weights.matmul(value)


def _as_floats(mask, name, dtype):
    """A mask that is to be added; a bool one says what does not take part."""
    if mask is None:
        return None
    if mask.dtype is bool_dtype:
        return mask.new_zeros(mask.shape, dtype=dtype).masked_fill_(mask, -math.inf)
    if not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return mask


def _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
    """Whether the inputs have a batch; all must agree."""
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    kind = "batched 3-D" if query.dim() == 3 else "unbatched 2-D"
    if key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {query.dim()}-D but found {key.dim()}-D and "
            f"{value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != query.dim() - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.dim() - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor "
            "instead"
        )
    if query.dim() == 2 and attn_mask is not None and attn_mask.dim() == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {tuple(attn_mask.shape)}")
    return query.dim() == 3


def _projected(query, key, value, weight, bias, separate):
    """query, key and value each through its own linear map; the maps of equal inputs are one product."""
    if weight is None:
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        return [linear(x, w, b) for x, w, b in zip((query, key, value), separate, biases, strict=True)]
    size = query.size(-1)
    if key is value and query is key:
        return list(linear(query, weight, bias).chunk(3, -1))
    weights = weight.split([size, 2 * size]) if key is value else weight.chunk(3)
    if bias is None:
        biases = (None,) * 3
    else:
        biases = bias.split([size, 2 * size]) if key is value else bias.chunk(3)
    if key is value:
        return [linear(query, weights[0], biases[0]), *linear(key, weights[1], biases[1]).chunk(2, -1)]
    return [linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]


def _attention_mask(mask, length, source, examples, num_heads):
    """The mask in three dimensions."""
    if mask is None:
        return None
    expected = (length, source) if mask.dim() == 2 else (examples * num_heads, length, source)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Attention in several heads: query (L, N, E), key (S, N, Ek) and value (S, N, Ev), or without N.

    Returns the output (L, N, E), and with *need_weights* the weights (N, L, S), averaged over the heads or not.
    """
    had_batch = _check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if not had_batch:
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, examples, size = query.shape
    source = key.size(0)
    if size != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}")
    head = size // num_heads
    if head * num_heads != size:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    if key.shape[:2] != value.shape[:2] and use_separate_proj_weight:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
        )
    if key.shape != value.shape and not use_separate_proj_weight:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the same, without a mask in memory
    else:
        is_causal = False
    dtype = query.dtype
    q, k, v = _projected(
        query, key, value, None if use_separate_proj_weight else in_proj_weight, in_proj_bias,
        (q_proj_weight, k_proj_weight, v_proj_weight),
    )
    mask = _attention_mask(_as_floats(attn_mask, "attn_mask", dtype), length, source, examples, num_heads)
    padding = _as_floats(key_padding_mask, "key_padding_mask", dtype)
    if bias_k is not None and bias_v is not None:
        k, v = (_ops.cat([x, b.repeat(1, examples, 1)]) for x, b in ((k, bias_k), (v, bias_v)))
        mask, padding = (None if m is None else pad(m, (0, 1)) for m in (mask, padding))
    q = q.reshape(length, examples * num_heads, head).transpose(0, 1)
    k = k.reshape(k.size(0), examples * num_heads, head).transpose(0, 1) if static_k is None else static_k
    v = v.reshape(v.size(0), examples * num_heads, head).transpose(0, 1) if static_v is None else static_v
    if add_zero_attn:
        k, v = (_ops.cat([x, x.new_zeros((x.size(0), 1, x.size(2)))], 1) for x in (k, v))
        mask, padding = (None if m is None else pad(m, (0, 1)) for m in (mask, padding))
    source = k.size(1)
    if padding is not None:
        if tuple(padding.shape) != (examples, source):
            raise AssertionError(
                f"expecting key_padding_mask shape of {(examples, source)}, but got {tuple(padding.shape)}"
            )
        padding = padding.view(examples, 1, 1, source).expand(-1, num_heads, -1, -1)
        padding = padding.reshape(examples * num_heads, 1, source)
        mask = padding if mask is None else mask + padding
    p = dropout_p if training else 0.0
    if not need_weights:
        result, weights = scaled_dot_product_attention(q, k, v, mask, p, is_causal), None
    else:
        scores = (q * math.sqrt(1.0 / head)).bmm(k.transpose(1, 2))
        weights = (scores if mask is None else scores + mask).softmax(-1)
        if p > 0.0:
            weights = dropout(weights, p, True)
        result = weights.bmm(v)
        weights = weights.view(examples, num_heads, length, source)
        if average_attn_weights:
            weights = weights.mean(1)
    result = linear(result.transpose(0, 1).reshape(length * examples, size), out_proj_weight, out_proj_bias)
    result = result.view(length, examples, size)
    if had_batch:
        return result, weights
    return result.squeeze(1), None if weights is None else weights.squeeze(0)
