"""Consumers of the array API take the tensors: array-api-compat, SciPy, scikit-learn, einops."""
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import shimtorch

A = np.linspace(-2, 2, 12).reshape(3, 4)
B = np.arange(1, 13).reshape(3, 4)
Q = np.array([[True, False], [False, True]])

# A call for a namespace p of the array API, once with NumPy's arrays and once with tensors.
CALLS = {
    "sum": lambda p, a, b, q: p.sum(a, axis=1, keepdims=True),
    "prod": lambda p, a, b, q: p.prod(a, axis=(0, 1)),
    "max": lambda p, a, b, q: p.max(a, axis=(0, 1)),
    "any": lambda p, a, b, q: p.any(q, axis=()),
    "all": lambda p, a, b, q: p.all(q, axis=(0, 1)),
    "mean": lambda p, a, b, q: p.mean(a, axis=0),
    "std": lambda p, a, b, q: p.std(a, correction=1),
    "var": lambda p, a, b, q: p.var(a, axis=(0, 1)),
    "concat": lambda p, a, b, q: p.concat([a, b], axis=None),
    "expand_dims": lambda p, a, b, q: p.expand_dims(a, axis=1),
    "squeeze": lambda p, a, b, q: p.squeeze(p.expand_dims(a, axis=1), axis=1),
    "sort": lambda p, a, b, q: p.sort(a, axis=0, descending=True),
    "argsort": lambda p, a, b, q: p.argsort(a, axis=1),
    "take": lambda p, a, b, q: p.take(a, b[0, :2], axis=1),
    "take_along_axis": lambda p, a, b, q: p.take_along_axis(a, b % 3, axis=0),
    "where": lambda p, a, b, q: p.where(a > 0, a, b),
    "where_number": lambda p, a, b, q: p.where(a > 0, 1.0, a),
    "searchsorted": lambda p, a, b, q: p.searchsorted(p.reshape(a, (-1,)), p.reshape(b, (-1,))),
    "cumulative_sum": lambda p, a, b, q: p.cumulative_sum(a, axis=1, include_initial=True),
    "cumulative_prod": lambda p, a, b, q: p.cumulative_prod(a, axis=0),
    "diff": lambda p, a, b, q: p.diff(a, axis=1, n=2),
    "repeat": lambda p, a, b, q: p.repeat(a, 2, axis=0),
    "tile": lambda p, a, b, q: p.tile(a, (2, 1)),
    "roll": lambda p, a, b, q: p.roll(a, (1, 2), axis=(0, 1)),
    "flip": lambda p, a, b, q: p.flip(a),
    "unstack": lambda p, a, b, q: p.unstack(a, axis=1)[2],
    "moveaxis": lambda p, a, b, q: p.moveaxis(a, 0, 1),
    "permute_dims": lambda p, a, b, q: p.permute_dims(a, (1, 0)),
    "matrix_transpose": lambda p, a, b, q: p.matrix_transpose(a),
    "unique_values": lambda p, a, b, q: p.unique_values(b % 5),
    "unique_inverse": lambda p, a, b, q: p.unique_inverse(b % 5)[1],
    "unique_counts": lambda p, a, b, q: p.unique_counts(b % 5)[1],
    "nonzero": lambda p, a, b, q: p.nonzero(b % 5)[1],
    "count_nonzero": lambda p, a, b, q: p.count_nonzero(b % 5, axis=1),
    "clip": lambda p, a, b, q: p.clip(a, -1, None),
    "clip_arrays": lambda p, a, b, q: p.clip(a, p.asarray(-1.0), b),
    "round": lambda p, a, b, q: p.round(a),
    "sign": lambda p, a, b, q: p.sign(a),
    "signbit": lambda p, a, b, q: p.signbit(a),
    "copysign": lambda p, a, b, q: p.copysign(a, -p.abs(a)),
    "nextafter": lambda p, a, b, q: p.nextafter(a, a + 1),
    "hypot": lambda p, a, b, q: p.hypot(a, a),
    "logaddexp": lambda p, a, b, q: p.logaddexp(a, a),
    "remainder": lambda p, a, b, q: p.remainder(a, p.asarray(3.0)),
    "floor_divide": lambda p, a, b, q: p.floor_divide(b, p.asarray(3)),
    "pow": lambda p, a, b, q: p.pow(b, 2),
    "bitwise_left_shift": lambda p, a, b, q: p.bitwise_left_shift(b, 1),
    "bitwise_invert": lambda p, a, b, q: p.bitwise_invert(b),
    "isin": lambda p, a, b, q: p.isin(b, p.asarray([1, 5])),
    "astype": lambda p, a, b, q: p.astype(a, p.int64),
    "isdtype": lambda p, a, b, q: p.asarray(p.isdtype(a.dtype, ("real floating", "bool"))),
    "tensordot": lambda p, a, b, q: p.tensordot(a, a, axes=([0], [0])),
    "vecdot": lambda p, a, b, q: p.vecdot(a, a, axis=0),
    "matmul": lambda p, a, b, q: p.matmul(a, p.permute_dims(a, (1, 0))),
    "meshgrid": lambda p, a, b, q: p.meshgrid(a[0], a[:, 0], indexing="ij")[1],
    "broadcast_arrays": lambda p, a, b, q: p.broadcast_arrays(a, a[:1])[1],
    "tril": lambda p, a, b, q: p.tril(a, k=1),
    "eye": lambda p, a, b, q: p.eye(3, 4, k=1, dtype=p.float64),
    "linspace": lambda p, a, b, q: p.linspace(0, 1, 5, endpoint=False, dtype=p.float64),
    "full": lambda p, a, b, q: p.full((2, 2), 3),
    "arange": lambda p, a, b, q: p.arange(1, 10, 3),
    "result_type": lambda p, a, b, q: p.zeros(1, dtype=p.result_type(b, p.float32, p.float64)),
    "cross": lambda p, a, b, q: p.linalg.cross(a[:, :3], b[:, :3]),
    "matrix_norm": lambda p, a, b, q: p.linalg.matrix_norm(a, ord="nuc"),
    "vector_norm": lambda p, a, b, q: p.linalg.vector_norm(a, axis=(0, 1), ord=1),
    "trace": lambda p, a, b, q: p.linalg.trace(a, offset=1),
    "diagonal": lambda p, a, b, q: p.linalg.diagonal(a),
    "qr": lambda p, a, b, q: abs(p.linalg.qr(a)[1]),
    "svdvals": lambda p, a, b, q: p.linalg.svdvals(a),
    "pinv": lambda p, a, b, q: p.linalg.pinv(a),
    "matrix_rank": lambda p, a, b, q: p.linalg.matrix_rank(a),
    "solve": lambda p, a, b, q: p.linalg.solve(a[:, :3] + 5 * p.eye(3, dtype=p.float64), a[:, 0]),
    "slogdet": lambda p, a, b, q: p.linalg.slogdet(a[:, :3] + 5 * p.eye(3, dtype=p.float64))[1],
    "outer": lambda p, a, b, q: p.linalg.outer(a[0], a[1]),
    "fft": lambda p, a, b, q: p.fft.fft(a),
    "rfftn": lambda p, a, b, q: p.fft.rfftn(a, axes=(0, 1)),
    "fftshift": lambda p, a, b, q: p.fft.fftshift(a, axes=0),
    "hfft": lambda p, a, b, q: p.fft.hfft(a),
}


@pytest.fixture(scope="module")
def namespace():
    """array-api-compat's namespace for tensors, which is made of what `import torch` gives."""
    import array_api_compat as compat
    with shimtorch.installed():
        yield compat.array_namespace(shimtorch.ones(1))


@pytest.mark.parametrize("name", CALLS)
def test_call(namespace, name):
    import array_api_compat.numpy as reference
    expected = np.asarray(CALLS[name](reference, A, B, Q))
    found = CALLS[name](namespace, *(namespace.asarray(x) for x in (A, B, Q)))
    assert isinstance(found, shimtorch.Tensor)
    found = np.asarray(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected)


def test_questions(namespace):
    import array_api_compat as compat
    x = shimtorch.ones(2, 3)
    assert compat.is_torch_array(x) and compat.is_array_api_obj(x) and compat.size(x) == 6
    assert compat.device(x) == shimtorch.device("cpu") and compat.is_writeable_array(x)
    info = namespace.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] and info.default_dtypes()["real floating"] is shimtorch.float32
    assert {"float64", "complex128", "bool", "uint8", "int64"} <= set(info.dtypes())


def run(tmp_path, script):
    """Run a script in a process in which SciPy dispatches by array namespaces, with shimtorch as torch."""
    script = ('import os\nos.environ["SCIPY_ARRAY_API"] = "1"\nimport shimtorch\nshimtorch.install()\n'
              "import numpy as np, torch\n") + textwrap.dedent(script)
    (tmp_path / "script.py").write_text(script)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_scipy(tmp_path):
    run(tmp_path, """
        from scipy import cluster, fft, integrate, ndimage, optimize, signal, special, stats
        x = torch.linspace(0.5, 3, 6, dtype=torch.float64)
        points = torch.asarray(np.random.default_rng(0).normal(size=(20, 2)))
        for f in (special.gammaln, special.logsumexp, special.softmax, special.expit, lambda x: special.xlogy(x, x),
                  stats.zscore, stats.skew, stats.gmean, stats.entropy, lambda x: stats.pearsonr(x, x * x)[0],
                  lambda x: stats.ttest_1samp(x, 1.0)[1], fft.dct, fft.rfft, signal.hilbert, signal.detrend,
                  lambda x: signal.fftconvolve(x, x), integrate.trapezoid,
                  lambda x: integrate.cumulative_trapezoid(x, x), optimize.rosen,
                  lambda x: ndimage.gaussian_filter(x, 1.0)):
            found, expected = f(x), f(x.numpy())
            assert isinstance(found, torch.Tensor), f
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-14)
        for f in (cluster.vq.whiten, cluster.hierarchy.linkage, lambda p: cluster.vq.vq(p, p[:3])[0]):
            found, expected = f(points), f(points.numpy())
            assert isinstance(found, torch.Tensor), f
            np.testing.assert_allclose(found.numpy(), expected)
    """)


def test_scikit_learn(tmp_path):
    run(tmp_path, """
        import sklearn
        from sklearn.datasets import load_iris
        from sklearn.decomposition import PCA
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.linear_model import Ridge
        from sklearn.metrics import accuracy_score, mean_squared_error
        from sklearn.preprocessing import MinMaxScaler, StandardScaler
        X, y = load_iris(return_X_y=True)
        tX, ty = torch.asarray(X), torch.asarray(y)
        cases = (lambda X, y: LinearDiscriminantAnalysis().fit(X, y).predict(X),
                 lambda X, y: abs(PCA(2, svd_solver="full").fit_transform(X)),
                 lambda X, y: Ridge(solver="svd").fit(X, X[:, 0]).predict(X),
                 lambda X, y: StandardScaler().fit_transform(X), lambda X, y: MinMaxScaler().fit_transform(X))
        for f in cases:
            expected = f(X, y)
            with sklearn.config_context(array_api_dispatch=True):
                found = f(tX, ty)
            assert isinstance(found, torch.Tensor), f
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-8, atol=1e-10)
        with sklearn.config_context(array_api_dispatch=True):
            assert accuracy_score(ty, ty) == 1 and mean_squared_error(tX, tX + 1) == 1
    """)


def test_einops(tmp_path):
    run(tmp_path, """
        import einops
        from einops.layers.torch import EinMix, Rearrange, Reduce
        x = torch.arange(12.0).reshape(3, 4)
        assert einops.rearrange(x, "a (b c) -> c a b", b=2).equal(x.reshape(3, 2, 2).permute(2, 0, 1))
        assert einops.reduce(x, "a (b c) -> b", "mean", c=2).equal(x.reshape(3, 2, 2).mean((0, 2)))
        assert einops.repeat(x, "a b -> a (b c)", c=2).equal(x.repeat_interleave(2, 1))
        assert einops.einsum(x, x, "a b, c b -> a c").equal(x @ x.T)
        packed, shapes = einops.pack([torch.ones(2, 3), torch.ones(3)], "* c")
        assert packed.shape == (3, 3) and [t.shape for t in einops.unpack(packed, shapes, "* c")] == [(2, 3), (3,)]
        layers = torch.nn.Sequential(Rearrange("a (b c) -> a b c", c=2), Reduce("a b c -> a c", "max"),
                                     EinMix("a c -> a o", weight_shape="c o", c=2, o=3))
        out = layers(x)
        out.sum().backward()
        assert out.shape == (3, 3) and layers[2].weight.grad.shape == (2, 3)
    """)


def test_every_name_that_is_listed_can_be_had(tmp_path):
    """Namespaces are cloned name by name."""
    run(tmp_path, """
        assert [name for name in dir(torch) if not hasattr(torch, name)] == []
        assert "installed" not in dir(torch)
        shimtorch.uninstall()
        assert "installed" in dir(shimtorch)
    """)
