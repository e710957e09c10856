"""Times of sparse operations on a CUDA device, beside torch and CuPy on the same card, as JSON.

    python -m bench.gpu_sparse [shimtorch] [torch] [cupy]

Libraries that are not installed are left out. Run by tools/gpu_lane.sh; not run yet, for want of a machine with a GPU.
"""
import importlib
import importlib.util
import json
import sys

import numpy

SIDE, ENTRIES = 100_000, 1_000_000


def scattered(seed):
    """Coordinates in any order, some of them more than once, and float32 values."""
    numbers = numpy.random.default_rng(seed)
    return numbers.integers(0, SIDE, (2, ENTRIES)), numbers.standard_normal(ENTRIES).astype("float32")


class WithTensors:
    """The operations of shimtorch and torch, which are spelled alike."""

    def __init__(self, library):
        self.t = library
        self.name = library.cuda.get_device_name()

    def matrix(self, seed):
        indices, values = (self.t.from_numpy(x).cuda() for x in scattered(seed))
        return self.t.sparse_coo_tensor(indices, values, (SIDE, SIDE))

    def dense(self, columns):
        return self.t.rand(SIDE, columns).cuda()

    def coalesce(self):
        a = self.matrix(0)
        return lambda: a.coalesce()

    def product(self, columns):
        a, b = self.matrix(0).coalesce(), self.dense(columns)
        return lambda: self.t.sparse.mm(a, b)

    def compressed_product(self, columns):
        a, b = self.matrix(0).coalesce().to_sparse_csr(), self.dense(columns)
        return lambda: a @ b

    def gradient(self, columns):
        a, b = self.matrix(0).coalesce().requires_grad_(), self.dense(columns).requires_grad_()

        def run():
            a.grad = b.grad = None
            self.t.sparse.mm(a, b).sum().backward()
        return run

    def sparse_product(self):
        a, b = self.matrix(0).coalesce(), self.matrix(1).coalesce()
        return lambda: self.t.sparse.mm(a, b)

    def sum(self):
        a, b = self.matrix(0).coalesce(), self.matrix(1).coalesce()
        return lambda: a + b

    def transpose(self):
        a = self.matrix(0).coalesce()
        return lambda: a.t().coalesce()

    def milliseconds(self, f, repeats):
        start, end = (self.t.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            f()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / repeats


class WithArrays:
    """The same operations of CuPy."""

    def __init__(self, library):
        self.c = library
        self.sparse = importlib.import_module("cupyx.scipy.sparse")
        self.name = library.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def matrix(self, seed):
        (rows, columns), values = scattered(seed)
        return self.sparse.coo_matrix((self.c.asarray(values), (self.c.asarray(rows), self.c.asarray(columns))),
                                      shape=(SIDE, SIDE))

    def coalesce(self):
        parts = self.matrix(0)

        def run():
            a = parts.copy()
            a.sum_duplicates()
        return run

    def compressed_product(self, columns):
        a, b = self.matrix(0).tocsr(), self.c.random.rand(SIDE, columns, dtype=self.c.float32)
        return lambda: a @ b

    product = compressed_product

    def sparse_product(self):
        a, b = self.matrix(0).tocsr(), self.matrix(1).tocsr()
        return lambda: a @ b

    def sum(self):
        a, b = self.matrix(0).tocsr(), self.matrix(1).tocsr()
        return lambda: a + b

    def transpose(self):
        a = self.matrix(0).tocsr()
        return lambda: a.T.tocsr()

    def milliseconds(self, f, repeats):
        start, end = (self.c.cuda.Event() for _ in range(2))
        start.record()
        for _ in range(repeats):
            f()
        end.record()
        end.synchronize()
        return self.c.cuda.get_elapsed_time(start, end) / repeats


CASES = {
    "coalesce 1M entries": ("coalesce",),
    "spmv": ("product", 1),
    "spmm, 64 columns": ("product", 64),
    "spmm in compressed rows, 64 columns": ("compressed_product", 64),
    "spmm and its gradients, 64 columns": ("gradient", 64),
    "sparse times sparse": ("sparse_product",),
    "sparse plus sparse": ("sum",),
    "transpose and coalesce": ("transpose",),
}


def measured(library, repeats=20):
    """The device, and the milliseconds of each case that the library has."""
    times = {}
    for name, (which, *args) in CASES.items():
        make = getattr(library, which, None)
        if make is not None:
            f = make(*args)
            library.milliseconds(f, 3)
            times[name] = round(library.milliseconds(f, repeats), 4)
    return {"device": library.name, "milliseconds": times}


def main(names):
    """Print the times of the libraries that are named, or of all; the exit status."""
    results = {}
    for name in names or ("shimtorch", "torch", "cupy"):
        if importlib.util.find_spec(name) is None:
            continue
        library = importlib.import_module(name)
        if not library.cuda.is_available():
            print(f"{name}: there is no CUDA device", file=sys.stderr)
            continue
        results[name] = measured((WithArrays if name == "cupy" else WithTensors)(library))
    print(json.dumps(results, indent=1))
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
