"""Record what real PyTorch draws: run with torch 2.13.0, then with 1.11.0, 1.1.0 and 1.0.0, each adds its answers.

usage: python tests/answers/make_random.py

A case names a draw, its arguments, and the tensor it fills; an answer is the CRC-32 of the bytes drawn (of the elements
in index order), and a float64 normal and a float32 uniform number drawn right after, which fix the generator's state.
Cases that a version refuses have no answer there. The Bernoulli numbers of 1.x are those of Intel processors on every
processor: they are asked of MKL itself.
"""

import ctypes
import glob
import itertools
import json
import os
import zlib

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, "random.json")
FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTEGERS = ["int64", "int32", "int16", "int8", "uint8", "bool"]
seeds = itertools.cycle([3, 77, 2**31 + 1, 2**40 + 9, -5])


def cases():
    """Every case as a dictionary of JSON values, without its answers."""

    def case(draw, shape, dtype="float32", args=(), layout="plain", **more):
        made = {"draw": draw, "args": list(args), "shape": list(shape), "dtype": dtype, "layout": layout}
        return dict(made, seed=next(seeds), **more)

    for dtype in FLOATS:
        for args in ([0, 1], [-2.5, 0.7], [1e-3, 3]):
            yield case("uniform", [37], dtype, args)
        for layout in ("transposed", "step", "cut"):
            yield case("uniform", [5, 7], dtype, [-1, 2], layout)
            yield case("normal", [5, 7], dtype, [0.5, 2], layout)
        for shape in ([1], [5], [15], [16], [17], [31], [32], [33], [48, 3], [1237]):
            yield case("normal", shape, dtype, [0, 1])
        yield case("normal", [50], dtype, [-1.25, 0.3])
        yield case("normal", [9], dtype, [3, 0.1])
        yield case("normal", [4, 3, 2], dtype, [0, 1], "transposed")
        for draw, args in (("exponential", [1]), ("exponential", [0.4]), ("cauchy", [0, 1]), ("cauchy", [2, 0.3]),
                           ("log_normal", [1, 2]), ("log_normal", [-0.2, 0.3])):
            yield case(draw, [41], dtype, args)
            yield case(draw, [3, 4], dtype, args, "transposed")
    for dtype in ("complex64", "complex128"):
        yield case("uniform", [9], dtype, [0, 1])
        for shape in ([5], [8], [9], [300]):
            yield case("normal", shape, dtype, [0, 1])
        yield case("normal", [4, 5], dtype, [0, 2], "transposed")
    for dtype in FLOATS + INTEGERS:
        if dtype != "bool":
            yield case("geometric", [30], dtype, [0.35])
            yield case("random", [21], dtype, [0, 100])
        yield case("random", [21], dtype)
        yield case("random", [4, 6], dtype, layout="transposed")
        for p in (0.5, 0.13, 0.999, 0.0, 1.0):
            yield case("bernoulli", [33], dtype, [p])
        yield case("bernoulli", [4, 5], dtype, [0.4], "transposed")
        for p_dtype in ("float32", "float64"):
            yield case("bernoulli_each", [6, 7], dtype, p=[0.02, 0.01], p_dtype=p_dtype)
            yield case("bernoulli_each", [6, 7], dtype, layout="transposed", p=[0.02, 0.01], p_dtype=p_dtype)
    for low, high in ((-5, 17), (0, 2**28 - 1), (0, 2**28), (-7, 2**31), (0, 2**32 - 1), (0, 2**32), (-(2**40), 2**41),
                      (-(2**62), 2**62), (0, 2**63 - 1)):
        yield case("random", [11], "int64", [low, high])
        yield case("random", [11], "float64", [low, high])
    yield case("random", [11], "int64", [-(2**63), None])
    yield case("random", [11], "int64", [5, None])
    yield case("random", [11], "int32", [-5, None])
    yield case("random", [11], "int32", [0, 2**30])
    yield case("random", [11], "bfloat16", [0, 2**8])
    for n in (0, 1, 2, 9, 625, 5000):
        yield case("permutation", [n], "int64")
    for dtype in ("int32", "int16", "uint8", "float32", "float64"):
        yield case("permutation", [50], dtype)
    for dtype in FLOATS:
        yield case("poisson", [60], dtype, a=[0.0, 0.31])
        yield case("poisson", [40], dtype, a=[5.0, 3.7])
        yield case("binomial", [40], dtype, a=[0.0, 1.0], b=[0.0, 0.026])
        yield case("binomial", [40], dtype, a=[60.0, 3.0], b=[0.02, 0.024])
        yield case("gamma", [50], dtype, a=[0.05, 0.17])
        yield case("dirichlet", [5, 4], dtype, a=[0.3, 0.4])
        yield case("dirichlet", [3, 21], dtype, a=[0.5, 0.1])
        yield case("dirichlet", [2, 150], dtype, a=[1.0, 0.01])
        for n, replacement in ((1, False), (1, True), (7, False), (12, False), (25, True)):
            yield case("multinomial", [12], dtype, [n, replacement], a=[0.5, 0.37])
            yield case("multinomial", [3, 12], dtype, [n, replacement], a=[1.0, 0.21])


def line(case, key, dtype=None):
    """The parameters start, start + step, ..."""
    start, step = case[key]
    n = 1
    for size in case["shape"]:
        n *= size
    values = [start + step * i for i in range(n)]
    return torch.tensor(values, dtype=getattr(torch, dtype or case["dtype"])).view(case["shape"])


def destination(case, dtype):
    """A tensor of the case's shape, laid out as it says."""
    shape = list(case["shape"])
    if case["layout"] == "transposed":
        return torch.zeros(shape[::-1], dtype=dtype).permute(*range(len(shape) - 1, -1, -1))
    if case["layout"] == "step":
        return torch.zeros(shape[:-1] + [2 * shape[-1]], dtype=dtype)[..., ::2]
    if case["layout"] == "cut":
        return torch.zeros(shape[:-1] + [shape[-1] + 3], dtype=dtype)[..., : shape[-1]]
    return torch.zeros(shape, dtype=dtype)


def mkl():
    """MKL's own library inside the 1.x wheels."""
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    for name in ("libtorch_cpu.so", "libcaffe2.so"):
        for path in glob.glob(os.path.join(folder, name)):
            return ctypes.CDLL(path)


def bernoulli_mkl(x, p):
    """Zeros and ones as 1.x draws them where it uses MKL: one word of the generator seeds MKL's MCG31."""
    library = mkl()
    seed = ctypes.c_uint32(int(torch.zeros(1, dtype=torch.int64).random_(0, 2**32 - 1)[0]))
    stream, kind = ctypes.c_void_p(), ctypes.c_int(1 << 20)
    n, method = ctypes.c_int(x.numel()), ctypes.c_int(0)
    values = (ctypes.c_int * x.numel())()
    assert library.VSLNEWSTREAM_(ctypes.byref(stream), ctypes.byref(kind), ctypes.byref(seed)) == 0
    probability = ctypes.c_double(p)
    assert library.VIRNGBERNOULLI_(ctypes.byref(method), ctypes.byref(stream), ctypes.byref(n), values,
                                   ctypes.byref(probability)) == 0
    return x.copy_(torch.tensor(list(values)).view(x.shape))


def answer(case):
    draw, args, dtype = case["draw"], case["args"], getattr(torch, case["dtype"])
    if draw == "permutation":
        return torch.randperm(case["shape"][0], dtype=dtype)
    if draw == "poisson":
        return torch.poisson(line(case, "a"))
    if draw == "binomial":
        return torch.binomial(line(case, "a"), line(case, "b"))
    if draw == "gamma":
        return torch._standard_gamma(line(case, "a"))
    if draw == "dirichlet":
        return torch._sample_dirichlet(line(case, "a"))
    if draw == "multinomial":
        return torch.multinomial(line(case, "a"), args[0], replacement=args[1])
    x = destination(case, dtype)
    if draw == "bernoulli_each":
        return x.bernoulli_(line(case, "p", case["p_dtype"]))
    if draw == "bernoulli" and torch.__version__[0] == "1":
        return bernoulli_mkl(x, args[0])
    return getattr(x, draw + "_")(*args)


def bits(x):
    x = x.contiguous()
    if str(x.dtype) == "torch.bfloat16":
        x = x.view(torch.int16)
    return zlib.crc32(x.numpy().tobytes())


def main():
    version = torch.__version__.split("+")[0]
    known = {}
    if os.path.exists(FILE):
        with open(FILE) as file:
            known = {key(entry): entry["answers"] for entry in json.load(file)}
    entries = []
    for case in cases():
        answers = dict(known.get(key(case), {}))
        answers.pop(version, None)
        torch.manual_seed(case["seed"])
        try:
            drawn = bits(answer(case))
        except (AttributeError, TypeError, RuntimeError, NotImplementedError, ValueError) as error:
            print(f"{key(case)}: {type(error).__name__} {str(error)[:80]}")
        else:
            normal = torch.zeros(1, dtype=torch.float64).normal_().item()
            answers[version] = [drawn, normal, torch.zeros(1).uniform_().item()]
        entries.append(dict(case, answers=answers))
    with open(FILE, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(entry, sort_keys=True) for entry in entries) + "\n]\n")


def key(entry):
    return json.dumps({k: v for k, v in entry.items() if k != "answers"}, sort_keys=True)


if __name__ == "__main__":
    main()
