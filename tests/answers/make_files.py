"""Writes files/ with real PyTorch, a file for each format of the version that runs it: ``python make_files.py``.

What they hold is the same in all; files/expected.json, which is written anew, says what. The files of other makers
(PyTorch 1.4 on Python 2, tar, big-endian) are kept as they are, their lines in expected.json too.
"""

import json
import os

import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
SHARED = [["base", "row"], ["base", "column"], ["base", "transposed"]]


def content():
    base = torch.arange(12, dtype=torch.float32).view(3, 4)
    return {
        "base": base, "row": base[1], "column": base[:, 1], "transposed": base.t(), "long": torch.tensor([1, -2]),
        "double": torch.tensor([0.1], dtype=torch.float64), "half": torch.tensor([0.5, 2.0], dtype=torch.float16),
        "byte": torch.tensor([255], dtype=torch.uint8), "scalar": torch.tensor(3.5), "empty": torch.zeros(0, 2),
    }


def main():
    version = torch.__version__.split("+")[0]
    path = os.path.join(FOLDER, "expected.json")
    with open(path) as file:
        expected = json.load(file)
    if version.startswith("1.1."):
        formats = {"legacy": {}}
    else:
        formats = {n: {"_use_new_zipfile_serialization": n == "zip"} for n in ("legacy", "zip")}
    for name, options in formats.items():
        file_name = f"torch-{version}-{name}.pt"
        torch.save(content(), os.path.join(FOLDER, file_name), **options)
        tensors = {key: value.tolist() for key, value in content().items()}
        expected[file_name] = {"safe": True, "tensors": tensors, "shared": SHARED}
    with open(path, "w") as file:
        json.dump(expected, file, indent=1, sort_keys=True)
        file.write("\n")


main()
