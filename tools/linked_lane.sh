#!/usr/bin/env bash
# The CUDA path as it is shipped, on a machine without a GPU: kernels by nvcc, modules linked to NVIDIA's wheels. Shows that
# it is imported, finds no device, and names its libraries by the right path. Then the emulator, compiled against NVIDIA's
# own headers (a prototype that differs is an error), takes the place of the libraries by LD_LIBRARY_PATH, which the loader looks
# at before the modules' RUNPATH, and tests/cuda runs on these modules: each launch is made by nvcc's host code, and carried
# out by the host's version of the kernel of that name.
#
# Needs nvcc, g++ and, unless VENV names an environment that has it all, a package index with the wheels of the extra
# cuda13 (0.8 GB). CUDA=12: nvcc and the wheels of CUDA 12 instead. WORK: a folder to keep; PYTHON: another Python; arguments
# go to pytest (default: tests/cuda).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
venv=${VENV:-$work/venv}
cuda=${CUDA:-13}
case $cuda in
    13) wheels=("nvidia-cuda-runtime>=13.0,<13.1" "nvidia-cublas>=13.0,<13.2" "nvidia-cusparse>=12.6,<12.7"
            "nvidia-nvjitlink>=13.0,<13.1")
        runpath='$ORIGIN/../../nvidia/cu13/lib' ;;
    12) wheels=(nvidia-cuda-runtime-cu12 nvidia-cublas-cu12 nvidia-cusparse-cu12 nvidia-nvjitlink-cu12 nvidia-cuda-nvcc-cu12
            nvidia-cuda-cccl-cu12)
        runpath=$(printf ':$ORIGIN/../../nvidia/%s/lib' cuda_runtime cublas cusparse nvjitlink)
        runpath=${runpath#:} ;;
    *) echo "CUDA is 12 or 13"; exit 2 ;;
esac
mkdir -p "$work/emulator" "$work/run"

step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

if [ ! -x "$venv/bin/python" ]; then
    step "wheels"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install -q "meson>=1.3" ninja "Cython>=3.1" numpy scipy pytest hypothesis "${wheels[@]}"
fi
export PATH=$venv/bin:$PATH
site=$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')

step "build"
if [ ! -f "$work/build/build.ninja" ]; then
    meson setup "$work/build" -Dcuda=enabled -Dgpu_arch=75-virtual "-Dpython.platlibdir=$site" \
        "-Dpython.purelibdir=$site" > "$work/setup.log"
fi
ninja -C "$work/build" > "$work/ninja.log" || { tail -40 "$work/ninja.log"; exit 1; }
meson install -C "$work/build" --quiet

step "the modules as they are"
for module in _rt _device _dense _sparse _libs _cusparse; do
    file=$(echo "$site/shimtorch/_gpu/$module".*.so)
    needs=$(readelf -d "$file" | sed -n 's/.*NEEDED.*\[\(libcu[^]]*\)\]/\1/p' | sort | tr '\n' ' ')
    path=$(readelf -d "$file" | sed -n 's/.*RUNPATH.*\[\(.*\)\]/\1/p')
    echo "$module: $needs"
    [ "$path" = "$runpath" ] || { echo "$module: RUNPATH is '$path'"; exit 1; }
done
cd "$work/run"                         # without sources beside it: the installed package is what is looked at
env -u LD_LIBRARY_PATH python - "$site/nvidia" <<'EOF'
import sys
import shimtorch as torch
torch.ones(2, 2) @ torch.ones(2, 2)
maps = open("/proc/self/maps").read()
assert "libcudart" not in maps and "libcu" not in maps.replace("libcurl", ""), "opened before the first use"
assert torch.cuda.device_count() == 0 and not torch.cuda.is_available()
try:
    torch.ones(1).cuda()
except RuntimeError as error:
    assert "NVIDIA driver" in str(error) or "No CUDA GPUs" in str(error), error
else:
    raise AssertionError("a tensor on a device that is not there")
from shimtorch._gpu import _cusparse, _device, _libs, _sparse
opened = {line.split()[-1] for line in open("/proc/self/maps") if "/libcu" in line}
assert opened and all(path.startswith(sys.argv[1]) for path in opened), opened
print("no device; opened", ", ".join(sorted(path.rpartition("/")[2] for path in opened)))
EOF

step "the emulator, against NVIDIA's headers"
cd "$root/tests/cudaemu"
headers=()
for folder in $(python "$root/tools/find_cuda.py" | sed -n 's/^include\t//p'); do headers+=(-I "$folder"); done
compile() {                             # NAME SONAME [SOURCES AND OPTIONS]
    local name=$1 soname=$2
    shift 2
    echo "$soname { global: *; };" > "$work/emulator/$name.map"
    g++ -std=c++17 -O1 -fPIC -shared -w "${headers[@]}" -I include "$@" \
        "-Wl,-soname,$soname,--version-script,$work/emulator/$name.map" -o "$work/emulator/$soname" -ldl
}
compile cudart "libcudart.so.$cuda" cudart.cpp device_memory.cpp fibers.cpp streams.cpp
compile cublas "libcublas.so.$cuda" cublas.cpp "$work/emulator/libcudart.so.$cuda"
compile cusparse libcusparse.so.12 cusparse.cpp "$work/emulator/libcudart.so.$cuda"
objects=()
for source in "$root"/shimtorch/_gpu/kernels/*.cu; do
    object=$work/emulator/$(basename "$source" .cu).o
    g++ -std=c++17 -O1 -fPIC -w -x c++ "${headers[@]}" -I include -c "$source" -o "$object"
    objects+=("$object")
done
g++ -shared -o "$work/emulator/libkernels.so" "${objects[@]}" "$work/emulator/libcudart.so.$cuda"
for prefix in cuda cublas cusparse; do  # what the modules ask for is there
    comm -23 <(nm -D --undefined-only "$site"/shimtorch/_gpu/*.so | sed -n "s/.* U \(_*$prefix[A-Z][A-Za-z0-9_]*\).*/\1/p" | sort -u) \
        <(nm -D --defined-only "$work"/emulator/lib*.so.1* | sed -n 's/.* T \([^@]*\).*/\1/p' | sort -u) > "$work/missing"
    [ ! -s "$work/missing" ] || { echo "the emulator lacks:"; cat "$work/missing"; exit 1; }
done

step "tests of the shipped modules"
cp -r "$root/tests" "$root/compat" "$root/pyproject.toml" "$work/run/"
cd "$work/run"
[ $# -gt 0 ] || set -- tests/cuda
LD_LIBRARY_PATH=$work/emulator SHIMEMU_KERNELS=$work/emulator/libkernels.so python -m pytest -q -p no:cacheprovider "$@"
