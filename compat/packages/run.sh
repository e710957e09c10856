#!/usr/bin/env bash
# Old pure-Python packages, unchanged and without their dependencies, on top of shimtorch: installs them from the package
# index into a folder of its own and uses them. PYTHON names a Python that has shimtorch; where the index cannot be
# reached, the lane says so and is left out.
set -euo pipefail
cd "$(dirname "$0")"
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What they need besides torch comes as it is today; of visdom, a server, torchnet needs the name only.
if ! "$python" -m pip install -q --no-deps --only-binary :all: --target "$work/packages" \
        "torchvision==0.2.2.post3" tensorboardX \
        six pillow tqdm protobuf packaging requests urllib3 idna certifi charset-normalizer > "$work/log" 2>&1 ||
   ! "$python" -m pip install -q --no-deps --target "$work/packages" "torchtext==0.2.3" torchnet >> "$work/log" 2>&1; then
    echo "left out: the packages are not to be had here ($(tail -1 "$work/log"))"
    exit 0
fi
touch "$work/packages/visdom.py"

for use in use_*.py; do
    echo "-- $use"
    PYTHONPATH="$work/packages${PYTHONPATH:+:$PYTHONPATH}" "$python" -W ignore -m shimtorch run -q --era 1.1 "$use"
done
