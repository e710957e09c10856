#!/usr/bin/env python3
"""Print the version, which stands in shimtorch/_version.py alone."""
import pathlib
import re

text = (pathlib.Path(__file__).parent.parent / "shimtorch" / "_version.py").read_text()
print(re.search(r'__version__ = "(.+)"', text).group(1))
