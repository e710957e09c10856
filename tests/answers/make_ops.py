"""Record what real torch answers to the op table's sample calls, in ops.npz. Run with a Python that has torch 2.13:

    PYTHONPATH=. python tests/answers/make_ops.py
"""
import json
import pathlib
import sys
import warnings

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "_ops"))
from table import DTYPES, arguments, full_name, results_of, sampled_ops, torch_argument, torch_function  # noqa: E402

HERE = pathlib.Path(__file__).parent


def as_array(t):
    t = t.resolve_conj().resolve_neg()
    return (t.float() if t.dtype is torch.bfloat16 else t).numpy()


def main():
    arrays, table = {}, {}
    warnings.simplefilter("ignore")
    for op in sampled_ops():
        f = torch_function(op, torch)
        if f is None:
            continue
        for index in range(len(op.samples.calls)):
            for dtype in DTYPES[op.samples.dtypes]:
                key = f"{full_name(op)}/{index}/{dtype}"
                args, kwargs = arguments(op, index, dtype, torch.from_numpy)
                try:
                    result = f(*(torch_argument(a, torch) for a in args), **kwargs)
                except Exception as error:
                    table[key] = {"error": type(error).__name__, "message": str(error).splitlines()[0]}
                    continue
                parts = []
                for i, r in enumerate(results_of(result)):
                    if isinstance(r, torch.Tensor):
                        arrays[f"{key}/{i}"] = as_array(r)
                        parts.append(None)
                    else:
                        parts.append(r)
                table[key] = {"parts": parts}
    np.savez_compressed(HERE / "ops.npz", table=np.array(json.dumps(table, separators=(",", ":"))), **arrays)
    print(len(table), "answers")


main()
