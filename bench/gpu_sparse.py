"""Times of sparse operations on a CUDA device, beside torch and CuPy on the same card, as JSON.

    python -m bench.gpu_sparse [--smoke] [shimtorch] [torch] [cupy]

Libraries that are not installed are left out. Run by tools/gpu_lane.sh; not run yet, for want of a machine with a GPU.
"""
import importlib
import sys

import numpy

from .gpu_measure import Arrays, Tensors, main


def scattered(seed, side, entries):
    """Coordinates in any order, some of them more than once, and float32 values."""
    numbers = numpy.random.default_rng(seed)
    return numbers.integers(0, side, (2, entries)), numbers.standard_normal(entries).astype("float32")


class SparseTensors(Tensors):
    """The operations of shimtorch and torch."""

    def matrix(self, seed):
        side = self.size(100_000, 50)
        indices, values = (self.t.from_numpy(x).cuda() for x in scattered(seed, side, self.size(1_000_000, 200)))
        return self.t.sparse_coo_tensor(indices, values, (side, side))

    def dense(self, columns):
        return self.rand(self.size(100_000, 50), columns)

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


class SparseArrays(Arrays):
    """The same operations of CuPy."""

    def __init__(self, module, smoke=False):
        super().__init__(module, smoke)
        self.sparse = importlib.import_module("cupyx.scipy.sparse")

    def matrix(self, seed):
        side = self.size(100_000, 50)
        (rows, columns), values = scattered(seed, side, self.size(1_000_000, 200))
        return self.sparse.coo_matrix((self.t.asarray(values), (self.t.asarray(rows), self.t.asarray(columns))),
                                      shape=(side, side))

    def coalesce(self):
        parts = self.matrix(0)

        def run():
            a = parts.copy()
            a.sum_duplicates()
        return run

    def compressed_product(self, columns):
        a, b = self.matrix(0).tocsr(), self.rand(self.size(100_000, 50), columns)
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

if __name__ == "__main__":
    sys.exit(main(CASES, SparseTensors, SparseArrays))
