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


def equation(generator):
    """An equation, mostly a valid one, and the shapes of its operands."""
    letters = "ijkABz"
    sizes = {x: generator.randrange(1, 4) for x in letters}
    dots = [generator.randrange(1, 4) for _ in range(generator.randrange(3))]
    terms, shapes = [], []
    for _ in range(generator.randrange(1, 5)):
        row = [generator.choice(letters) for _ in range(generator.randrange(4))]
        shape = [sizes[x] for x in row]
        for x in set(row):             # a dimension that broadcasts
            if row.count(x) == 1 and generator.random() < 0.1:
                shape[row.index(x)] = 1
        if generator.random() < 0.3:
            at = generator.randrange(len(row) + 1)
            covered = dots[len(dots) - generator.randrange(len(dots) + 1):] if dots else []
            row.insert(at, "...")
            shape[at:at] = [1 if generator.random() < 0.2 else n for n in covered]
        terms.append("".join(row))
        shapes.append(shape)
    text = ",".join(terms)
    if generator.random() < 0.7:
        pool = sorted({x for term in terms for x in term if x != "."})
        output = generator.sample(pool, generator.randrange(len(pool) + 1))
        if generator.random() < 0.4:
            output.insert(generator.randrange(len(output) + 1), "...")
        text += "->" + "".join(output)
    if generator.random() < 0.25:      # a slip of the pen
        at = generator.randrange(len(text) + 1)
        text = text[:at] + generator.choice(["", " ", ".", "...", "->", "-", ">", ",", "i", "Q", "1", "é"]) + \
            text[at + generator.randrange(2):]
    if generator.random() < 0.08:
        shapes[0] = [n + 1 for n in shapes[0]]
    if generator.random() < 0.05:
        shapes.pop()
    return text, shapes


def main():
    torch.backends.opt_einsum.enabled = False        # whose errors are not torch's
    generator = random.Random(20260102)
    found = []
    while len(found) < 400:
        text, shapes = equation(generator)
        operands = [torch.tensor(numbers(shape), dtype=torch.float64).reshape(shape) for shape in shapes]
        entry = {"equation": text, "shapes": shapes}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = torch.einsum(text, *operands)
            if result.numel() > 500:
                continue
            entry.update(shape=list(result.shape), values=result.flatten().tolist())
        except Exception as error:
            entry.update(error=type(error).__name__, message=str(error))
        found.append(entry)
    Path(__file__).with_name("einsum.json").write_text(json.dumps(found, separators=(",", ":")))


if __name__ == "__main__":
    main()
