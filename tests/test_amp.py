"""Automatic mixed precision on the CPU: which function computes in which dtype, and scaling of losses."""
import pickle

import pytest

import shimtorch as torch
import shimtorch.nn.functional as F

SQUARE = torch.arange(16.0).reshape(4, 4) / 16
BATCH = torch.ones(2, 4, 4)
IMAGE = torch.ones(1, 2, 6, 6)
VOLUME = torch.ones(1, 2, 4, 4, 4)
POSITIVE = SQUARE @ SQUARE.T + 4 * torch.eye(4)
CLASSES = torch.tensor([0, 1, 2, 3])

# What torch 2.13 gives for operands of float32, and of bfloat16.
LOWER, FULL, AS_IS = ("bfloat16", "bfloat16"), ("float32", "float32"), ("float32", "bfloat16")
CASES = {
    "mm": (LOWER, lambda q: torch.mm(q(SQUARE), q(SQUARE))),
    "operator": (LOWER, lambda q: q(SQUARE) @ q(SQUARE)),
    "bmm": (LOWER, lambda q: torch.bmm(q(BATCH), q(BATCH))),
    "addmm": (LOWER, lambda q: torch.addmm(q(SQUARE), q(SQUARE), q(SQUARE))),
    "linear": (LOWER, lambda q: F.linear(q(SQUARE), q(SQUARE), q(SQUARE)[0])),
    "einsum": (LOWER, lambda q: torch.einsum("ij,jk->ik", q(SQUARE), q(SQUARE))),
    "tensordot": (LOWER, lambda q: torch.tensordot(q(SQUARE), q(SQUARE), 1)),
    "multi_dot": (LOWER, lambda q: torch.linalg.multi_dot([q(SQUARE)] * 3)),
    "matrix_power": (LOWER, lambda q: torch.linalg.matrix_power(q(SQUARE), 2)),
    "conv2d": (LOWER, lambda q: F.conv2d(q(IMAGE), q(torch.ones(3, 2, 3, 3)))),
    "conv_transpose2d": (LOWER, lambda q: F.conv_transpose2d(q(IMAGE), q(torch.ones(2, 3, 3, 3)))),
    "prelu": (LOWER, lambda q: F.prelu(q(SQUARE), q(torch.ones(1)))),
    "attention": (LOWER, lambda q: F.scaled_dot_product_attention(q(BATCH), q(BATCH), q(BATCH))),
    "multihead": (LOWER, lambda q: torch.nn.MultiheadAttention(4, 2).to(q(SQUARE).dtype)(*[q(BATCH)] * 3)[0]),
    "mv": (AS_IS, lambda q: torch.mv(q(SQUARE), q(SQUARE)[0])),
    "dot": (AS_IS, lambda q: torch.dot(q(SQUARE)[0], q(SQUARE)[0])),
    "softmax": (AS_IS, lambda q: F.softmax(q(SQUARE), 1)),
    "layer_norm": (AS_IS, lambda q: F.layer_norm(q(SQUARE), (4,))),
    "exp": (AS_IS, lambda q: q(SQUARE).exp()),
    "sum": (AS_IS, lambda q: q(SQUARE).sum()),
    "avg_pool2d": (AS_IS, lambda q: F.avg_pool2d(q(IMAGE), 2)),
    "pad": (AS_IS, lambda q: F.pad(q(IMAGE), (1, 1, 1, 1))),
    "embedding": (AS_IS, lambda q: F.embedding(CLASSES, q(SQUARE))),
    "index_copy": (AS_IS, lambda q: torch.index_copy(q(SQUARE), 0, CLASSES[:1], q(SQUARE)[:1])),
    "prod": (FULL, lambda q: q(SQUARE).prod()),
    "trace": (FULL, lambda q: q(SQUARE).trace()),
    "cross_entropy": (FULL, lambda q: F.cross_entropy(q(SQUARE), CLASSES)),
    "nll_loss": (FULL, lambda q: F.nll_loss(q(SQUARE), CLASSES)),
    "mse_loss": (FULL, lambda q: F.mse_loss(q(SQUARE), q(SQUARE))),
    "binary_cross_entropy": (FULL, lambda q: F.binary_cross_entropy(q(SQUARE).sigmoid(), q(SQUARE).sigmoid())),
    "avg_pool3d": (FULL, lambda q: F.avg_pool3d(q(VOLUME), 2)),
    "reflect": (FULL, lambda q: F.pad(q(IMAGE), (1, 1, 1, 1), "reflect")),
    "replicate": (FULL, lambda q: F.pad(q(IMAGE), (1, 1, 1, 1), mode="replicate")),
    "cat": (FULL, lambda q: torch.cat([q(SQUARE), SQUARE])),
    "stack": (FULL, lambda q: torch.stack([q(SQUARE), SQUARE])),
    "inverse": (FULL, lambda q: torch.inverse(q(POSITIVE))),
    "svd": (FULL, lambda q: torch.linalg.svd(q(POSITIVE))[0]),
    "solve": (FULL, lambda q: torch.linalg.solve(q(POSITIVE), q(SQUARE))),
    "fft": (("complex64", "complex64"), lambda q: torch.fft.fft(q(SQUARE))),
}


@pytest.mark.parametrize("name", CASES)
def test_dtype_within_a_region(name):
    expected, function = CASES[name]
    with torch.autocast("cpu"):
        found = tuple(str(function(lambda t, d=d: t.to(d)).dtype)[6:] for d in (torch.float32, torch.bfloat16))
    assert found == expected


@pytest.mark.parametrize("name", ["mm", "linear", "cross_entropy", "solve", "exp"])
def test_double_is_left_alone(name):
    with torch.autocast("cpu"):
        assert CASES[name][1](lambda t: t.double()).dtype is torch.float64


def test_regions_nest_and_end():
    with torch.autocast("cpu"):
        with torch.autocast("cpu", enabled=False):
            assert (SQUARE @ SQUARE).dtype is torch.float32 and not torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", dtype=torch.float16):
            assert (SQUARE @ SQUARE).dtype is torch.get_autocast_dtype("cpu") is torch.float16
        assert (SQUARE @ SQUARE).dtype is torch.bfloat16 and torch.is_autocast_cpu_enabled()
        assert torch.mm(SQUARE, SQUARE, out=torch.empty(4, 4)).dtype is torch.float32
    assert (SQUARE @ SQUARE).dtype is torch.float32 and not torch.is_autocast_enabled("cpu")


def test_a_function_may_be_decorated():
    @torch.autocast("cpu")
    def product(x):
        """The square."""
        return x @ x
    assert product(SQUARE).dtype is torch.bfloat16 and product.__doc__ == "The square."


def test_gradients_have_the_dtype_of_the_weights():
    layer = torch.nn.Linear(4, 2)
    with torch.autocast("cpu"):
        out = layer(SQUARE)
        loss = F.mse_loss(out, torch.zeros(4, 2))
    loss.backward()
    assert (out.dtype, loss.dtype, layer.weight.grad.dtype) == (torch.bfloat16, torch.float32, torch.float32)


def test_values_are_those_of_cast_operands():
    with torch.autocast("cpu"):
        found = torch.mm(SQUARE, SQUARE)
    assert torch.equal(found, SQUARE.bfloat16() @ SQUARE.bfloat16())


def test_asked_for_cuda_it_warns_and_does_nothing():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        region = torch.autocast("cuda")
    with region:
        assert (SQUARE @ SQUARE).dtype is torch.float32
    with pytest.warns(FutureWarning, match=r"torch.cuda.amp.autocast\(args...\)"), pytest.warns(UserWarning):
        torch.cuda.amp.autocast()


def test_wrong_arguments():
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.autocast(torch.device("cpu"))
    with pytest.raises(RuntimeError, match="device_type"):
        torch.autocast("meta")
    with pytest.warns(UserWarning, match="target dtype is not supported"):
        torch.autocast("cpu", dtype=torch.float32)


def test_functions_see_the_region_of_their_forward():
    seen = []

    class Noted(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, x):
            seen.append((x.dtype, torch.is_autocast_enabled("cpu")))
            return x * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            seen.append((g.dtype, torch.is_autocast_enabled("cpu")))
            return g * 2
    x = torch.ones(2, 2, dtype=torch.bfloat16, requires_grad=True)
    with torch.autocast("cpu"):
        out = Noted.apply(x)
    out.sum().backward()
    assert seen == [(torch.float32, False), (torch.float32, False)] and x.grad.dtype is torch.bfloat16


# ---------------------------------------------------------------- scaling

def scaler_and_weight(**options):
    w = torch.nn.Parameter(torch.ones(2))
    return torch.amp.GradScaler("cpu", **options), w, torch.optim.SGD([w], 0.1)


def test_a_step_undoes_the_scale():
    scaler, w, optimizer = scaler_and_weight()
    loss = scaler.scale((w * 2).sum())
    assert loss.item() == 4 * 65536
    loss.backward()
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == pytest.approx([0.8, 0.8]) and w.grad.tolist() == [2, 2]
    assert scaler.state_dict() == {"scale": 65536.0, "growth_factor": 2.0, "backoff_factor": 0.5,
                                   "growth_interval": 2000, "_growth_tracker": 1}


def test_infinite_gradients_are_no_step():
    scaler, w, optimizer = scaler_and_weight()
    scaler.scale((w * float("inf")).sum()).backward()
    assert scaler.step(optimizer) is None and w.tolist() == [1, 1]
    scaler.update()
    assert scaler.get_scale() == 32768


def test_the_scale_grows():
    scaler, w, optimizer = scaler_and_weight(growth_interval=2, init_scale=4.0)
    found = []
    for _ in range(5):
        optimizer.zero_grad()
        scaler.scale((w * 2).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        found.append(scaler.get_scale())
    assert found == [4, 8, 8, 16, 16]
    other = torch.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() == pickle.loads(pickle.dumps(scaler)).state_dict()


def test_order_of_calls():
    scaler, w, optimizer = scaler_and_weight()
    for call in (lambda: scaler.step(optimizer), scaler.update, lambda: scaler.unscale_(optimizer)):
        with pytest.raises(AssertionError, match="_scale is None"):
            call()
    scaler.scale((w * 2).sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="may only be pickled"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"called after step\(\)"):
        scaler.unscale_(optimizer)
    scaler.update(16.0)
    assert scaler.get_scale() == 16 and [t.tolist() for t in scaler.scale([torch.ones(1), torch.ones(2)])] == [
        [16], [16, 16]]
    for wrong, error in ((lambda: scaler.scale(3), ValueError), (lambda: scaler.load_state_dict({}), RuntimeError),
                         (lambda: scaler.step(optimizer, closure=None), RuntimeError),
                         (lambda: torch.amp.GradScaler("cpu", growth_factor=1.0), AssertionError)):
        with pytest.raises(error):
            wrong()


def test_half_gradients_are_refused():
    scaler = torch.amp.GradScaler("cpu")
    w = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
    scaler.scale((w * 2).sum().float()).backward()
    with pytest.raises(ValueError, match="FP16"):
        scaler.unscale_(torch.optim.SGD([w], 0.1))


def test_without_cuda_its_scaler_does_nothing():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = torch.amp.GradScaler()
    assert not scaler.is_enabled() and scaler.scale(3) == 3 and scaler.state_dict() == {} and scaler.update() is None
