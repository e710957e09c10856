"""Record how real PyTorch prints tensors, in printing.json beside this file.

Run it with PyTorch 2.13.0 first: that makes the cases anew. Then run it with 1.11.0, 1.1.0 and 1.0.0: each adds what
it prints for the same expressions, where it can evaluate them. A case holds ``expression``, ``options`` for
``set_printoptions``, and ``prints``: pairs of a text and the versions (separated by spaces) that print it.
"""

import json
import os
import random
import warnings

import torch

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "printing.json")
LATER = ("torch.bool", "tensor(True", "tensor([True")  # what 1.0 and 1.1 have not yet, or as a sketch only
NAMES = {"torch": torch, "nan": float("nan"), "inf": float("inf")}

INTEGERS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def nested(values, shape):
    """`values` as nested lists of `shape`."""
    for size in reversed(shape[1:]):
        values = [values[i:i + size] for i in range(0, len(values), size)]
    return values


def size_of(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def tensor(values, shape, dtype):
    data = repr(nested(values, shape) if shape else values[0])
    return f"torch.tensor({data}, dtype=torch.{dtype})"


def numbers():
    """Special and boundary values in every dtype."""
    for dtype in INTEGERS:
        yield f"torch.tensor([1, 100, 3], dtype=torch.{dtype})"
        yield f"torch.tensor(7, dtype=torch.{dtype})"
        yield f"torch.zeros(0, 2, dtype=torch.{dtype})"
    for dtype in FLOATS:
        for value in "7.", "-0.5", "nan", "-inf", "1e4", "0.00001", "[1., 1001.]", "[0.25, -0.5, 100.]", "[1e-3, 1.]":
            yield f"torch.tensor({value}, dtype=torch.{dtype})"
        yield f"torch.zeros(2, 0, 3, dtype=torch.{dtype})"
        yield f"torch.tensor([], dtype=torch.{dtype})"
    for value in (
        "[True, False]", "True", "[0., -0.]", "-0.", "[0., nan]", "[nan, inf, -inf]", "[1.5, nan, -inf]",
        "[[1., nan], [inf, -inf]]", "[nan, 1e10]", "[-inf, 1e-10]", "[1e-5, 1.]", "[1e-4, 1.]", "[1e-4, 0.01]",
        "[0.99e-3, 1.5]", "[1., 1000.]", "[2e8]", "1e8", "1e8 + 8", "[1e8]", "[-1., 100., 1000.5]", "99999.5",
        "100000.5", "123456789", "[2**62, -2**63]", "2.**60", "1e20", "[]", "[[]]", "[[[]], [[]]]",
        "[1 + 2j, 3 - 0.5j]", "1 - 2j", "[complex(1, -0.)]", "[1e10 + 1e-10j, 1j]",
        "[complex(nan, inf), complex(1, -inf)]", "[[0j, 1j], [1 + 0j, nan]]",
    ):  # fmt: skip
        yield f"torch.tensor({value})"
    yield "torch.tensor([5e-324, 1e308], dtype=torch.float64)"
    yield "torch.tensor([6e-8, 1.], dtype=torch.float16)"
    yield "torch.tensor([60000., 6e-5], dtype=torch.float16)"
    yield "torch.tensor([1. + 0j, 2.], dtype=torch.complex128)"
    yield "torch.tensor([], dtype=torch.complex64)"
    yield "torch.tensor([], dtype=torch.bool)"


def random_data(rng):
    """Random numbers of many magnitudes and shapes."""
    shapes = [(), (1,), (3,), (7,), (30,), (3, 4), (2, 13), (5, 1), (2, 3, 4), (1, 2, 1, 3), (2, 1, 2, 2, 2)]
    for _ in range(90):
        shape = rng.choice(shapes)
        spread = rng.choice([0, 0, 0, 1, 2, 4, 8, 40])
        values = [float(f"{rng.gauss(0, 1) * 10 ** rng.uniform(-spread, spread):.6g}") for _ in range(size_of(shape))]
        if rng.random() < 0.15:
            values = [float(round(value * 100)) for value in values]
        yield tensor(values, shape, rng.choice(["float32", "float32", "float64"]))
    for _ in range(30):
        shape = rng.choice(shapes)
        limit = 10 ** rng.randint(0, 12)
        values = [rng.randint(-limit, limit) for _ in range(size_of(shape))]
        yield tensor(values, shape, "int64")
    for _ in range(20):
        shape = (rng.choice([1, 2, 5, 12]),)
        digits = rng.randint(0, 3)
        values = [complex(round(rng.gauss(0, 9), digits), round(rng.gauss(0, 9), 3)) for _ in range(size_of(shape))]
        yield tensor(values, shape, rng.choice(["complex64", "complex128"]))


def summarised():
    yield "torch.arange(1000.)"
    yield "torch.arange(1001.)"
    yield "torch.arange(1001)"
    yield "torch.arange(1100, dtype=torch.float32).view(10, 110) / 7"
    yield "torch.arange(1200, dtype=torch.float64).view(400, 3) / 8"
    yield "torch.arange(4000, dtype=torch.int32).view(2, 2000)"
    yield "torch.arange(4096, dtype=torch.float32).view(16, 16, 16) / 4"
    yield "torch.arange(2048, dtype=torch.float32).view(2, 2, 2, 2, 2, 64)"
    yield "torch.arange(3200, dtype=torch.float32).view(8, 5, 8, 10).transpose(1, 3)"
    yield "torch.arange(3000, dtype=torch.float32).to(torch.complex64)"
    yield "torch.ones(5000, dtype=torch.uint8)"
    yield "torch.ones(1, 1).expand(2000, 2000)"


def suffixes():
    for count in range(9, 17):
        yield f"torch.ones({count}, requires_grad=True)"
        yield f"torch.ones({count}, dtype=torch.float64)"
        yield f"torch.ones({count}, dtype=torch.float64, requires_grad=True)"
        yield f"torch.ones({count}, dtype=torch.float64, requires_grad=True) * 2"
    for made in "* 2", "+ 1", "- 1", "/ 3", "** 2":
        yield f"torch.ones(2, 2, requires_grad=True) {made}"
    for method in "sum()", "mean()", "exp()", "relu()", "view(4)", "t()", "clone()", "abs()", "tanh()":
        yield f"torch.ones(2, 2, requires_grad=True).{method}"
    yield "torch.zeros(2, 0, 3, requires_grad=True)"
    yield "torch.ones(2, 2, requires_grad=True).detach()"
    yield "torch.nn.Parameter(torch.ones(2, 3) / 4)"
    yield "torch.nn.Parameter(torch.ones(3)[:0])"
    yield "torch.nn.Parameter(torch.ones(2), requires_grad=False)"
    yield "type('Mine', (torch.Tensor,), {})([[1, 2.5], [3, 4]])"
    yield "type('Mine', (torch.nn.Parameter,), {})(torch.ones(2))"
    yield "torch.arange(12.).view(3, 4).t()"
    yield "torch.arange(24.).view(2, 3, 4)[:, ::2, 1:]"


def sparse():
    pair = "torch.tensor([[0, 1, 1], [2, 0, 2]])"
    for values in "[3., 4., 5.]", "[0.5, -1., 1e6]", "[1, 2, 300]":
        yield f"torch.sparse_coo_tensor({pair}, torch.tensor({values}), (2, 3))"
    for dtype in "float16", "float64", "uint8", "bool":
        yield f"torch.sparse_coo_tensor({pair}, torch.tensor([1, 0, 1], dtype=torch.{dtype}), (2, 3))"
    coo = f"torch.sparse_coo_tensor({pair}, torch.arange(12.).view(3, 2, 2), (2, 3, 2, 2)"
    yield coo + ")"
    yield coo + ", requires_grad=True)"
    yield coo + ", requires_grad=True) * 2"
    yield "torch.nn.Parameter(torch.sparse_coo_tensor(torch.tensor([[0]]), torch.tensor([1.]), (2,)))"
    yield "torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0), (2, 3))"
    yield "torch.sparse_coo_tensor(torch.zeros(1, 2, dtype=torch.int64), torch.zeros(2, 0), (2, 0))"
    yield "torch.sparse_coo_tensor(torch.zeros(0, 1, dtype=torch.int64), torch.tensor([3.]), ())"
    yield "torch.sparse_coo_tensor(torch.arange(2002).view(2, 1001), torch.arange(1001.), (2002, 2002))"
    for layout in "csr", "csc":
        yield f"torch.eye(3).to_sparse_{layout}()"
        yield f"torch.eye(30, dtype=torch.float64).to_sparse_{layout}()"
        yield f"torch.zeros(3, 2).to_sparse_{layout}()"
    for layout in "bsr", "bsc":
        yield f"torch.eye(4).to_sparse_{layout}((2, 2))"
    yield "torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.tensor([1.5 + 1j]), (1, 1))"
    yield "torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2), requires_grad=True)"


def with_options(rng):
    """Pairs of an expression and the options to print it under."""
    ramp = "torch.arange(36, dtype=torch.float32).view(6, 1, 6) / 7"
    coo = "torch.sparse_coo_tensor(torch.tensor([[0, 1]]), torch.ones(2, 3), (2, 3), requires_grad=True)"
    for values in (
        "[1.5, 22.25, 1e10]", "[1., 22., 3.]", "[1, 22, 3]", "[nan, 22., 0.]", "[nan, 0.]", "1.5", "[1e-9, 1.5]",
        "[1., 1e10]", "[-1., 2., 0.]", "[1. + 2j, nan]", "[1e10 + 2e-7j, nan]",
    ):  # fmt: skip
        for mode in True, False:
            yield f"torch.tensor({values})", {"sci_mode": mode}
    for precision in 0, 1, 2, 8, 12:
        yield "torch.tensor([1.125, -22.2222, 1 / 3])", {"precision": precision}
        yield "torch.tensor([1.125e-6, -22.2222])", {"precision": precision}
    yield ramp, {"threshold": 5, "edgeitems": 0}
    for edge in 1, 2, 3, 5:
        yield ramp, {"threshold": 5, "edgeitems": edge}
        yield "torch.arange(11)", {"threshold": 10, "edgeitems": edge}
    for width in 0, 3, 20, 40, 79, 80, 81, 120, 300:
        yield ramp, {"linewidth": width}
        yield "torch.arange(18., requires_grad=True)", {"linewidth": width}
        yield coo, {"linewidth": width}
    for profile in "default", "short", "full", "unknown":
        yield "torch.arange(1010, dtype=torch.float64).view(101, 10) / 3", {"profile": profile}
    yield ramp, {"profile": "short", "precision": 3}
    yield ramp, {"profile": "full", "threshold": 10}
    for _ in range(30):
        options = {
            "precision": rng.randint(0, 9),
            "threshold": rng.choice([5, 20, 100]),
            "edgeitems": rng.choice([1, 2, 4]),
            "linewidth": rng.choice([20, 60, 79, 81, 120]),
        }
        for name in rng.sample(sorted(options), 2):
            del options[name]
        shape = rng.choice([(9,), (4, 5), (2, 3, 4)])
        values = [round(rng.gauss(0, 10 ** rng.randint(-1, 4)), 5) for _ in range(size_of(shape))]
        yield tensor(values, shape, "float32"), options


def cases():
    rng = random.Random(13)
    for made in numbers(), random_data(rng), summarised(), suffixes(), sparse():
        for expression in made:
            yield expression, {}
    yield from with_options(rng)


def printed(expression, options):
    """What this PyTorch prints, or None if it cannot."""
    try:
        torch.set_printoptions(profile="default")
        torch.set_printoptions(**options)
        return repr(eval(expression, dict(NAMES)))
    except (AttributeError, IndexError, RuntimeError, TypeError):
        return None
    finally:
        torch.set_printoptions(profile="default")


def main():
    warnings.simplefilter("ignore")
    version = torch.__version__.split("+")[0]
    if version.startswith("2"):
        record = [{"expression": expression, "options": options, "prints": []} for expression, options in cases()]
    else:
        with open(PATH, encoding="utf-8") as file:
            record = json.load(file)
    for case in record:
        if version in ("1.0.0", "1.1.0") and any(part in case["expression"] for part in LATER):
            continue
        text = printed(case["expression"], case["options"])
        if text is None:
            continue
        for known in case["prints"]:
            if known[0] == text:
                if version not in known[1].split():
                    known[1] += " " + version
                break
        else:
            if "grad_fn" in text and case["prints"]:
                continue  # older versions name the functions otherwise: not a matter of printing
            case["prints"].append([text, version])
    with open(PATH, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in record if case["prints"]) + "\n]\n")


if __name__ == "__main__":
    main()
