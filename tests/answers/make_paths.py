"""Record what opt_einsum's 'auto' finds for 200 random networks: ``python make_paths.py`` writes paths.json.

Needs opt_einsum. A network is written as its equation and the sizes of its labels, which are single characters.
"""
import json
import random
from pathlib import Path

import opt_einsum


def network(generator, n):
    """Rows of labels of n tensors, connected, and the output: a tree with further bonds, hyperedges and open labels."""
    rows, output, count = [[] for _ in range(n)], [], 0

    def label():
        nonlocal count
        count += 1
        return opt_einsum.get_symbol(count - 1)
    for i in range(1, n):
        x = label()
        rows[i].append(x)
        rows[generator.randrange(max(0, i - 4), i)].append(x)
    for _ in range(generator.randrange(n)):
        x = label()
        for i in generator.sample(range(n), 3 if n > 3 and generator.random() < 0.15 else 2):
            rows[i].append(x)
        if generator.random() < 0.1:
            output.append(x)
    for i in range(n):
        if generator.random() < 0.3 or not rows[i]:
            x = label()
            rows[i].append(x)
            if generator.random() < 0.8:
                output.append(x)
    sizes = {opt_einsum.get_symbol(i): generator.choice((2, 2, 3, 4, 5, 8, 16)) for i in range(count)}
    return rows, output, sizes


def main():
    generator = random.Random(20260101)
    found = []
    for i in range(200):
        rows, output, sizes = network(generator, 3 + i * 28 // 200)
        equation = ",".join("".join(row) for row in rows) + "->" + "".join(output)
        shapes = [tuple(sizes[x] for x in row) for row in rows]
        _, info = opt_einsum.contract_path(equation, *shapes, shapes=True, optimize="auto")
        found.append({"equation": equation, "sizes": sizes, "cost": float(info.opt_cost)})
    Path(__file__).with_name("paths.json").write_text(json.dumps(found, separators=(",", ":")))


if __name__ == "__main__":
    main()
