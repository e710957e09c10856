"""What the sparse tests share: random sparse tensors, what they stand for, and derivatives by differences."""
import numpy as np

import shimtorch as torch


def random_sparse(sizes=(4, 5), dense=(), nnz=9, dtype=torch.float64, seed=0, coalesced=False):
    """A sparse tensor with repeated indices (unless coalesced) and values away from 0."""
    rng = np.random.default_rng([seed, nnz, *sizes])
    indices = np.stack([rng.integers(0, n, nnz) for n in sizes])
    if nnz > 2:
        indices[:, 1] = indices[:, 0]
    values = random_values((nnz, *dense), dtype, seed)
    result = torch.sparse_coo_tensor(torch.from_numpy(indices), values, (*sizes, *dense))
    return result.coalesce() if coalesced else result


def random_values(shape, dtype=torch.float64, seed=0):
    rng = np.random.default_rng([seed, *shape])
    values = rng.uniform(0.5, 1.5, shape) * rng.choice([-1, 1], shape)
    if dtype.is_complex:
        values = values + 1j * rng.uniform(0.5, 1.5, shape)
    elif not dtype.is_floating_point:
        values = np.round(np.abs(values) * 4)
    return torch.from_numpy(np.asarray(values)).to(dtype)


def dense(x):
    """The tensor as an ndarray."""
    x = x.detach()
    if x.layout is not torch.strided:
        check_parts(x)
        x = x.to_dense()
    return x.numpy()


def check_parts(x):
    """What must hold of any sparse tensor."""
    if x.layout is not torch.sparse_coo:
        return
    indices, values = x._indices(), x._values()
    assert indices.dtype is torch.int64 and indices.shape == (x.sparse_dim(), x._nnz())
    assert values.shape == (x._nnz(), *x.shape[x.sparse_dim():]) and values.dtype is x.dtype
    keys = list(map(tuple, indices.numpy().T.tolist()))
    if x.is_coalesced():
        assert keys == sorted(set(keys)) or x.sparse_dim() == 0
    for column in keys:
        assert all(0 <= i < n for i, n in zip(column, x.shape, strict=False))


def same(got, want, rtol=1e-9, atol=1e-12):
    np.testing.assert_allclose(dense(got), dense(want) if isinstance(want, torch.Tensor) else want, rtol, atol)


def weigh(y, seed=7):
    """A number that depends on every element of y."""
    y = y if y.layout is torch.strided else y.to_dense()
    w = random_values(tuple(y.shape), torch.float64, seed)
    return (y * w).sum()


def check_gradients(f, *leaves, second=True, eps=1e-6):
    """The derivative of weigh(f(leaves)) for dense double leaves, and of that derivative, against differences."""
    leaves = [x.detach().clone().requires_grad_() for x in leaves]

    def first(*xs):
        return weigh(f(*xs))
    compare(first, leaves, eps)
    if second:
        def slope(*xs):
            grads = torch.autograd.grad(first(*xs), xs, create_graph=True)
            return sum(weigh(g * (k + 1)) for k, g in enumerate(grads))
        if slope(*leaves).requires_grad:
            compare(slope, leaves, eps)


def compare(f, leaves, eps):
    got = torch.autograd.grad(f(*leaves), leaves, allow_unused=True)
    for x, g in zip(leaves, got, strict=True):
        flat = x.detach().numpy().reshape(-1)
        differences = np.zeros(flat.size)
        for k in range(flat.size):
            kept = flat[k]
            results = []
            for sign in (1, -1):
                flat[k] = kept + sign * eps
                results.append(f(*leaves).item())
            flat[k] = kept
            differences[k] = (results[0] - results[1]) / (2 * eps)
        found = np.zeros(flat.size) if g is None else dense(g).reshape(-1)
        np.testing.assert_allclose(found, differences, 1e-5, 1e-6)
