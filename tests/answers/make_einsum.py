"""Record what real torch answers to random einsum calls, in einsum.json: ``python make_einsum.py`` with torch 2.13."""
import json
import random
import warnings
from pathlib import Path

import torch


def numbers(shape):
    """Whole numbers from -3 to 3 in float64, the same ones for a shape everywhere."""
    n = 1
    for size in shape:
        n *= size
    return [float((7 * i + 3 * len(shape)) % 11 % 7 - 3) for i in range(n)]


DTYPES = ["float64"] * 8 + ["float32", "complex64", "complex128", "float16", "bfloat16", "bool", "uint8", "int8",
                            "int16", "int32", "int64"]
SLIPS = ["", " ", ".", "...", "->", "-", ">", ",", "i", "Q", "1", "_", "\t", "\n", "\0", "\u00e9"]


def contraction(generator):
    """Terms as lists of labels, the output or None, and the shapes of the operands; mostly valid ones."""
    letters = "ijkABz"[:generator.choice([2, 4, 6])]
    sizes = {x: generator.randrange(0 if generator.random() < 0.05 else 1, 4) for x in letters}
    dots = [generator.randrange(1, 4) for _ in range(generator.randrange(3))]
    terms, shapes = [], []
    for _ in range(generator.choice([1, 1, 2, 2, 2, 3, 3, 4, 5])):
        row = [generator.choice(letters) for _ in range(generator.randrange(4))]
        shape = [sizes[x] for x in row]
        for x in sorted(set(row)):     # a dimension that broadcasts
            if row.count(x) == 1 and generator.random() < 0.1:
                shape[row.index(x)] = 1
        if generator.random() < 0.3:
            at = generator.randrange(len(row) + 1)
            covered = dots[len(dots) - generator.randrange(len(dots) + 1):] if dots else []
            row.insert(at, "...")
            shape[at:at] = [1 if generator.random() < 0.2 else n for n in covered]
        terms.append(row)
        shapes.append(shape)
    output = None
    if generator.random() < 0.7:
        pool = sorted({x for term in terms for x in term if x != "..."})
        output = generator.sample(pool, generator.randrange(len(pool) + 1))
        if generator.random() < 0.4:
            output.insert(generator.randrange(len(output) + 1), "...")
        if generator.random() < 0.03:
            output.append(generator.choice("ijkQ"))
    if generator.random() < 0.06:
        shapes[0] = [n + 1 for n in shapes[0]]
    if generator.random() < 0.03:
        shapes.pop()
    if generator.random() < 0.02:
        shapes.append([2])
    return terms, output, shapes


def written(generator, terms, output):
    """An equation with spaces, and now and then a slip of the pen."""
    text = ",".join(["".join(term) for term in terms]) + ("" if output is None else "->" + "".join(output))
    while generator.random() < 0.3:
        at = generator.randrange(len(text) + 1)
        text = text[:at] + " " + text[at:]
    if generator.random() < 0.2:
        at = generator.randrange(len(text) + 1)
        text = text[:at] + generator.choice(SLIPS) + text[at + generator.randrange(2):]
    return text


def numbered(term):
    """A term as a sublist, -1 for an ellipsis."""
    return [-1 if x == "..." else ord(x) - ord("A") if x.isupper() else ord(x) - ord("a") + 26 for x in term]


def arguments(entry, operands):
    """The arguments of the call that an entry describes."""
    if "equation" in entry:
        return [entry["equation"], *operands]
    rows = [[Ellipsis if x == -1 else x for x in row] for row in entry["sublists"]]
    return [item for pair in zip(operands, rows) for item in pair] + rows[len(operands):]


def answer(entry):
    """What torch answers to an entry, or None where the answer is not kept."""
    operands = [torch.tensor(numbers(shape), dtype=torch.float64).reshape(shape).to(getattr(torch, entry["dtype"]))
                for shape in entry["shapes"]]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = torch.einsum(*arguments(entry, operands))
    except Exception as error:
        # what torch cannot do, but could: bool products, sums of a part of the integers
        refused = "expected scalar type" in str(error) or isinstance(error, NotImplementedError)
        return None if refused else {"error": type(error).__name__, "message": str(error).split("\n")[0]}
    kind = torch.complex128 if result.is_complex() else torch.float64
    values = torch.view_as_real(result.to(kind).resolve_conj()) if result.is_complex() else result.to(kind)
    return None if result.numel() > 300 else {
        "shape": list(result.shape), "result": str(result.dtype).split(".")[1], "values": values.flatten().tolist()}


def main():
    torch.backends.opt_einsum.enabled = False        # whose errors are not torch's
    generator = random.Random(20260102)
    found = []
    while len(found) < 1000:
        terms, output, shapes = contraction(generator)
        entry = {"shapes": shapes, "dtype": generator.choice(DTYPES)}
        if generator.random() < 0.3 and len(shapes) == len(terms):
            entry["sublists"] = [numbered(term) for term in [*terms, output] if term is not None]
        else:
            entry["equation"] = written(generator, terms, output)
        answered = answer(entry)
        if answered is not None:
            found.append({**entry, **answered})
    text = ",\n".join([json.dumps(entry, separators=(",", ":")) for entry in found])
    Path(__file__).with_name("einsum.json").write_text(f"[{text}]\n")


if __name__ == "__main__":
    main()
