"""Say whether two configured build folders make the same: ``same_build.py BUILD OTHER``, exit status 1 if not.

What is compared is what meson would compile (sources, compilers, arguments) and install, of folders on the same
sources. ``-Dcuda=auto`` where there is no CUDA must make what ``-Dcuda=disabled`` makes.
"""
import json
import pathlib
import sys

KEYS = ("name", "type", "installed", "install_filename", "target_sources", "depends", "build_by_default")


def facts(build):
    """What a build folder makes, without its own path: {kind: text}."""
    build = pathlib.Path(build).resolve()

    def read(name):
        text = (build / "meson-info" / f"intro-{name}.json").read_text()
        return json.loads(text.replace(str(build), "BUILD"))
    targets = {target["filename"][0]: {key: target.get(key) for key in KEYS} for target in read("targets")}
    return {**{f"target {name}": target for name, target in targets.items()},
            **{f"installed {kind}: {name}": where for kind, files in read("install_plan").items()
               for name, where in files.items()}}


def main(first, second):
    """Print what differs; the exit status."""
    a, b = facts(first), facts(second)
    differ = [name for name in sorted({*a, *b}) if a.get(name) != b.get(name)]
    for name in differ:
        print(f"{name}: {a.get(name)}\n    instead of {b.get(name)}")
    print(f"{len(a)} targets and files, {len(differ)} differ")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
