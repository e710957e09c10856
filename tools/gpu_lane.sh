#!/usr/bin/env bash
# The CUDA path on a machine with a GPU, from this working tree, in less than ten minutes: builds it, runs tests/cuda on the
# device, times a few operations (beside torch and CuPy, where they are installed), and with what is left of the time runs
# tests under compute-sanitizer, where it is installed. Writes gpu.log, gpu.json and gpu_sparse.json into the folder OUT
# (default: here). Needs nvcc, the CUDA libraries, Cython, meson, ninja, numpy, scipy and pytest; fetches nothing. PYTHON
# names another Python. EMULATED=1: the same steps on the emulator and with tiny sizes, which shows that the script works.
# Arguments go to pytest (default: tests/cuda).
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${OUT:-.}"
out=$(cd "${OUT:-.}" && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exec > >(tee "$out/gpu.log") 2>&1
emulated=${EMULATED:-}
limit=570                              # seconds

if [ -z "$emulated" ]; then
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
    nvcc --version | tail -1
    options=(-Dcuda=enabled "-Dgpu_arch=$capability")
else
    options=(-Dgpu_emulated=true)
    export LD_LIBRARY_PATH=$work/build/tests/cudaemu
fi

echo "== build ($SECONDS s)"
meson setup "$work/build" "${options[@]}" -Dpython.platlibdir="$work/site" -Dpython.purelibdir="$work/site" \
    > "$work/setup.log" || { cat "$work/setup.log"; exit 1; }
ninja -C "$work/build" > "$work/ninja.log" && meson install -C "$work/build" --quiet ||
    { tail -40 "$work/ninja.log"; exit 1; }
export PYTHONPATH=$work/site
mkdir "$work/run"                      # without sources beside it: the package that was built is what is tested
cp -r tests compat bench pyproject.toml "$work/run/"
cd "$work/run"

echo "== tests ($SECONDS s)"
[ $# -gt 0 ] || set -- tests/cuda
"$python" -m pytest -q -p no:cacheprovider --junitxml="$work/tests.xml" "$@"
status=$?

echo "== times ($SECONDS s)"
for module in gpu gpu_sparse; do
    "$python" -m "bench.$module" ${emulated:+--smoke} > "$out/$module.json" || { echo "bench.$module failed"; status=1; }
    cat "$out/$module.json"
done

tools=(memcheck racecheck synccheck initcheck)
for i in "${!tools[@]}"; do
    echo "== sanitizer: ${tools[$i]} ($SECONDS s)"
    command -v compute-sanitizer > /dev/null || { echo "left out: there is no compute-sanitizer"; break; }
    timeout $(((limit - SECONDS) / (${#tools[@]} - i))) compute-sanitizer --tool "${tools[$i]}" --error-exitcode 9 \
        "$python" -m pytest -q -x -p no:cacheprovider tests/cuda/test_copies.py tests/cuda/test_training.py \
        tests/cuda/test_sparse_products.py tests/cuda/test_spectra.py
    case $? in
        0) ;;
        124) echo "${tools[$i]}: nothing found in its time, which did not do for all tests" ;;
        *) echo "${tools[$i]}: failed"; status=1 ;;
    esac
done
echo "== done ($SECONDS s), status $status"
exit $status
