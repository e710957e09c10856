#!/usr/bin/env bash
# The CUDA path on a machine with a GPU, from this working tree, in less than ten minutes: builds it, runs tests/cuda on the
# device and (where it is installed) under compute-sanitizer, and times a few operations. Writes gpu.log, gpu.json and
# gpu_sparse.json into the folder OUT (default: here). Needs nvcc, the CUDA libraries, Cython, meson, ninja, numpy, scipy and
# pytest; fetches nothing. PYTHON names another Python.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-.}
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
exec > >(tee "$out/gpu.log") 2>&1

capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
nvcc --version | tail -1

echo "== build for sm_$capability ($SECONDS s)"
meson setup "$work/build" -Dcuda=enabled "-Dgpu_arch=$capability" -Dpython.platlibdir="$work/site" \
    -Dpython.purelibdir="$work/site" && ninja -C "$work/build" && meson install -C "$work/build" --quiet || exit 1
export PYTHONPATH=$work/site

echo "== tests ($SECONDS s)"
"$python" -m pytest -q -p no:cacheprovider --junitxml="$work/tests.xml" tests/cuda
status=$?

echo "== sanitizer ($SECONDS s)"
for tool in memcheck racecheck synccheck initcheck; do
    if command -v compute-sanitizer > /dev/null; then
        timeout 90 compute-sanitizer --tool "$tool" --error-exitcode 9 "$python" -m pytest -q -p no:cacheprovider \
            tests/cuda/test_copies.py tests/cuda/test_training.py tests/cuda/test_sparse_products.py || { echo "$tool: status $?"; status=1; }
    fi
done

echo "== times ($SECONDS s)"
"$python" -m bench.gpu > "$out/gpu.json"
"$python" -m bench.gpu_sparse > "$out/gpu_sparse.json"
cat "$out/gpu.json" "$out/gpu_sparse.json"
exit $status
