"""Record which dtypes real torch's arithmetic gives, in promotion.json. Run with a Python that has torch 2.13:

    python tests/answers/make_promotion.py
"""
import json
import pathlib

import torch

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128")
NUMBERS = {"True": True, "2": 2, "2.0": 2.0, "2j": 2j}
OPS = {"result_type": torch.result_type, "mul": torch.mul, "div": torch.div, "eq": torch.eq, "pow": torch.pow,
       "where": lambda a, b: torch.where(torch.tensor([True]), a, b)}


def answer(f, a, b):
    """The name of the dtype, or of the exception; None for what no one can rely on: complex32, and gaps of torch."""
    try:
        r = f(a, b)
    except NotImplementedError:
        return None
    except (RuntimeError, TypeError) as error:
        return type(error).__name__
    name = str(r if isinstance(r, torch.dtype) else r.dtype).partition(".")[2]
    return None if name == "complex32" else name


def main():
    table = {}
    for name, f in OPS.items():
        for first in DTYPES:
            for dims in ((1,), ()):
                a = torch.ones(dims, dtype=getattr(torch, first))
                row = table.setdefault(f"{name} {first} {len(dims)}", {})
                for second in DTYPES:
                    for other in ((1,), ()):
                        row[f"{second} {len(other)}"] = answer(f, a, torch.ones(other, dtype=getattr(torch, second)))
                for text, number in NUMBERS.items():
                    row[text] = answer(f, a, number)
    table = {key: {other: name for other, name in row.items() if name} for key, row in table.items()}
    path = pathlib.Path(__file__).parent / "promotion.json"
    path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in table.items()) + "\n}\n")


if __name__ == "__main__":
    main()
