"""Record what real torch answers to the op table's sample calls, in ops.npz. Run with a Python that has torch 2.13:

    PYTHONPATH=. python tests/answers/make_ops.py
"""
import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "_ops"))
from table import (  # noqa: E402
    DTYPES,
    Answers,
    arguments,
    for_torch,
    full_name,
    results_of,
    sampled_ops,
    seen,
    torch_function,
)


def as_array(t):
    t = t.detach().resolve_conj().resolve_neg()
    return (t.float() if t.dtype is torch.bfloat16 else t).numpy()


def main():
    answers = Answers()
    warnings.simplefilter("ignore")
    for op in sampled_ops():
        f = torch_function(op, torch)
        if f is None:
            print("torch has no", full_name(op))
            continue
        errors = 0
        for index in range(len(op.samples.calls)):
            for dtype in DTYPES[op.samples.dtypes]:
                key = f"{full_name(op)}/{index}/{dtype}"
                args, kwargs = for_torch(*arguments(op, index, dtype, torch.from_numpy), torch)
                try:
                    result = f(*args, **kwargs)
                except Exception as error:
                    answers.table[key] = {"error": type(error).__name__, "message": str(error).splitlines()[0]}
                    errors += 1
                    continue
                answers.table[key] = {"parts": [
                    answers.part(as_array(r)) if isinstance(r, torch.Tensor) else {"value": r}
                    for r in results_of(seen(op, result))]}
        if errors == len(op.samples.calls) * len(DTYPES[op.samples.dtypes]):
            print("only errors:", key, answers.table[key])
    path = pathlib.Path(__file__).parent / "ops.npz"
    answers.save(path)
    print(len(answers.table), "answers,", path.stat().st_size, "bytes")


main()
