"""Say where the headers and shared libraries of CUDA are: ``find_cuda.py [TOOLKIT]``, for meson.

Prints lines of a key and values, separated by tabs: ``version`` (of the runtime), ``include`` (folders), ``libs``
(files: wheels have no unversioned names), ``rpath`` (of a module in shimtorch/_gpu). Nothing, and status 1, if one is
missing. Looked at in this order: the toolkit that is named, the nvidia-* wheels of this interpreter together with
nvcc's toolkit, that toolkit alone.
"""
import os
import re
import shutil
import sys
import sysconfig

LIBRARIES = ("cudart", "cublas", "cusparse")
HEADERS = ("cuda_runtime_api.h", "cublas_v2.h", "cusparse.h", "crt/host_defines.h")
ALSO = "nv/target"                     # which headers of CUDA 12 include; a folder of its own
WHEELS = ("cuda_runtime", "cublas", "cusparse", "cuda_nvcc", "cuda_cccl")
UP = "$ORIGIN/../../nvidia/"           # from shimtorch/_gpu to the wheels beside the package


def toolkits():
    """The roots of toolkits that are installed: nvcc's, and what the environment or habit names."""
    nvcc = shutil.which(os.environ.get("NVCC", "nvcc"))
    if nvcc:
        yield os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    for root in (os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if root and os.path.isdir(root):
            yield root


def wheels():
    """The folders of the wheels: one since CUDA 13 (nvidia/cu13), one a component before."""
    for site in dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
        nvidia = os.path.join(site, "nvidia")
        for name in sorted(os.listdir(nvidia)) if os.path.isdir(nvidia) else ():
            if re.fullmatch(r"cu\d+", name) or name in WHEELS:
                yield os.path.join(nvidia, name)


def candidates(named):
    """Lists of roots, to be taken together."""
    if named:
        return [[named]]
    return [[*wheels(), *toolkits()], [*toolkits()]]


def find(roots):
    """The folders of the headers, and the library files; None if any is missing."""
    headers, libraries = {}, {}
    for root in roots:
        for folder in (os.path.join(root, "include"), os.path.join(root, "targets/x86_64-linux/include")):
            for name in (*HEADERS, ALSO):
                if os.path.exists(os.path.join(folder, name)):
                    headers.setdefault(name, folder)
        for folder in (os.path.join(root, "lib64"), os.path.join(root, "lib"),
                       os.path.join(root, "targets/x86_64-linux/lib")):
            files = sorted(os.listdir(folder)) if os.path.isdir(folder) else ()
            for name in LIBRARIES:
                hits = [f for f in files if re.fullmatch(rf"lib{name}\.so\.\d+", f)]
                if hits:
                    libraries.setdefault(name, os.path.join(folder, hits[-1]))
    if not headers.keys() >= {*HEADERS} or len(libraries) < len(LIBRARIES):
        return None
    folders = dict.fromkeys(headers[name] for name in (*HEADERS, ALSO) if name in headers)
    return list(folders), [libraries[name] for name in LIBRARIES]


def version(folder):
    """The version of the runtime whose header lies in a folder, such as 13000."""
    with open(os.path.join(folder, "cuda_runtime_api.h"), errors="replace") as f:
        return int(re.search(r"#define CUDART_VERSION\s+(\d+)", f.read()).group(1))


def main(named=""):
    """Print what was found; the exit status."""
    for roots in candidates(named):
        found = find(roots)
        if found is None:
            continue
        include, libs = found
        number = version(include[0])
        if libs[0].rpartition(".")[2] != str(number // 1000) or libs[1].rpartition(".")[2] != str(number // 1000):
            continue                   # headers of one CUDA, libraries of another (cuSPARSE is at 12 in both)
        folders = ["cu13"] if number >= 13000 else ["cuda_runtime", "cublas", "cusparse", "nvjitlink"]
        for line in (("version", number), ("include", *include), ("libs", *libs),
                     ("rpath", ":".join(f"{UP}{name}/lib" for name in folders))):
            print(*line, sep="\t")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
