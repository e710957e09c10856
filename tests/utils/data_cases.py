"""Orders, batches and errors of torch.utils.data, recorded from PyTorch.

``d`` is torch.utils.data; every case starts from seed 7, and the draw after it is recorded too.
"""

from collections import OrderedDict, namedtuple

from recorded import answer

# Cases that PyTorch 1.1 has too, whose orders differ there.
SHUFFLED = """
list(d.DataLoader(pairs(), shuffle=True, batch_size=3))
[b for _ in range(2) for b in d.DataLoader(d.TensorDataset(x, y), batch_size=4, shuffle=True, drop_last=True)]
list(d.DataLoader(range(5), batch_size=2))
list(d.RandomSampler(range(10)))
list(d.RandomSampler(range(10), True, 77))
list(d.SubsetRandomSampler([3, 5, 7, 9]))
[list(s.indices) for s in d.random_split(range(10), [3, 7])]
""".strip().split("\n")

CASES = SHUFFLED + """
list(d.DataLoader(d.TensorDataset(x, y)))
list(d.DataLoader(d.TensorDataset(x, y), batch_size=None))
list(d.DataLoader(d.TensorDataset(x, y), batch_size=3, drop_last=True))
[len(d.DataLoader(range(10), batch_size=3, drop_last=drop)) for drop in (False, True)]
[b for _ in range(2) for b in d.DataLoader(range(10), batch_size=4, shuffle=True, generator=g(3))]
list(d.DataLoader(list(range(7)), batch_sampler=d.BatchSampler(d.SequentialSampler(range(7)), 2, False)))
list(d.DataLoader(list(range(7)), sampler=[3, 1, 2], batch_size=2))
list(d.DataLoader(list(range(7)), batch_sampler=[[1, 2], [6]], collate_fn=list))
list(d.DataLoader(d.Subset(d.TensorDataset(x, y), [1, 3, 5]), 2))
list(d.DataLoader(d.ConcatDataset([range(3), range(5)]), 4))
list(d.DataLoader(d.StackDataset(a=range(3), b=range(3)), 2))
list(d.DataLoader(d.StackDataset(range(3), range(3)), 2))
list(d.DataLoader(stream(7), batch_size=3))
list(d.DataLoader(stream(7), batch_size=3, drop_last=True))
list(d.DataLoader(stream(7), batch_size=None))
len(d.DataLoader(stream(7), batch_size=3))
list(stream(2) + stream(3))
[d.ConcatDataset([range(5), range(5)])[i] for i in (0, 4, 5, 9, -1, -10)]
d.ConcatDataset([range(5)])[-11]
list(d.RandomSampler(range(10), False, 25))
(lambda s: [list(s), list(s)])(d.RandomSampler(range(10), generator=g(3)))
list(d.WeightedRandomSampler([0.1, 0.5, 0.2], 10))
list(d.WeightedRandomSampler([0.1, 0.5, 0.2], 2, False))
[list(s.indices) for s in d.random_split(range(10), [0.5, 0.25, 0.25])]
[list(d.DistributedSampler(range(5), 2, r, seed=3)) for r in (0, 1)]
[list(d.DistributedSampler(range(5), 2, r, shuffle=False, drop_last=True)) for r in (0, 1)]
d.random_split(range(10), [3, 6])
d.random_split(range(3), [1.5, -0.5])
d.DataLoader(range(5), num_workers=-1)
d.DataLoader(range(5), timeout=-1)
d.DataLoader(range(5), prefetch_factor=2)
d.DataLoader(range(5), persistent_workers=True)
d.DataLoader(range(5), multiprocessing_context="fork")
d.DataLoader(range(5), sampler=[1], shuffle=True)
d.DataLoader(range(5), batch_sampler=[[1]], batch_size=2)
d.DataLoader(range(5), batch_size=None, drop_last=True)
d.DataLoader(range(5), batch_size=0)
d.DataLoader(range(5), batch_size=True)
d.DataLoader(range(5), drop_last=3)
d.DataLoader([], shuffle=True)
d.DataLoader(stream(3), shuffle=True)
d.DataLoader(stream(3), sampler=[1])
d.DataLoader(stream(3), batch_sampler=[[1]])
setattr(d.DataLoader(range(5)), "batch_size", 3)
d.TensorDataset(x, y[:3])
d.ConcatDataset([])
d.ConcatDataset([stream(3)])
d.StackDataset()
d.StackDataset(range(2), range(3))
d.RandomSampler(range(3), replacement=1)
d.WeightedRandomSampler([0.5], 0)
d.WeightedRandomSampler([[0.5]], 1)
d.DistributedSampler(range(3), 2, 2)
d.Dataset()[0]
""".strip().split("\n")

BATCHES = """
[1, 2]
[1.5, 2.0]
[True, False]
["a", "b"]
[b"a", b"b"]
[x[0], x[1]]
[x[0], x]
[(1, 2.0), (3, 4.0)]
[[1, 2], [3, 4]]
[{"a": 1, "b": x[0]}, {"a": 2, "b": x[1]}]
[Pair(1, 2.0), Pair(3, 4.0)]
[np.float32(1), np.float32(2)]
[np.int64(3), np.int64(4)]
[np.arange(3), np.arange(3)]
[np.array(["a"]), np.array(["b"])]
[np.bool_(True)]
[None, None]
[[1], [1, 2]]
[{"a": [1, (2, 3.0)]}, {"a": [4, (5, 6.0)]}]
[OrderedDict(a=1), OrderedDict(a=2)]
""".strip().split("\n")

CASES += [f"d.default_collate({batch})" for batch in BATCHES]
CASES += [f"d.default_convert({batch})" for batch in BATCHES]

Pair = namedtuple("Pair", "a b")


def run(torch, case):
    """The result of one case and the draw that comes after."""
    import numpy as np

    d = torch.utils.data

    class Pairs(d.Dataset):
        def __getitem__(self, i):
            return i, float(i)

        def __len__(self):
            return 8

    def stream(n):
        class Stream(d.IterableDataset):
            def __iter__(self):
                return iter(range(n))

            def __len__(self):
                return n

        return Stream()

    def call():
        torch.manual_seed(7)
        namespace = {
            "d": d,
            "np": np,
            "x": torch.arange(20.0).view(10, 2),
            "y": torch.arange(10),
            "g": lambda seed: torch.Generator().manual_seed(seed),
            "pairs": Pairs,
            "stream": stream,
            "Pair": Pair,
            "OrderedDict": OrderedDict,
        }
        return [eval(case, namespace), torch.rand(1).item()]

    return answer(call)
