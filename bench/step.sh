#!/usr/bin/env bash
# A training step of VGG16, nmn and PyTorch by turns: bench/step.sh [ROUNDS] [BATCH] [SIZE]
# PYTHON names a Python with torch. Prints each figure and the ratio of the medians.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-3} batch=${2:-4} size=${3:-224} python=${PYTHON:-python3}
CGO_ENABLED=0 go build -o build/nmn-bench ./cmd/nmn
figures=$(mktemp)
trap 'rm -f "$figures"' EXIT
for ((round = 1; round <= rounds; round++)); do
  build/nmn-bench bench step --model vgg16 --batch "$batch" --size "$size" --repeats 3 --json |
    "$python" -c 'import json, sys; d = json.load(sys.stdin); print("nmn", d["step_ms"], d["peak_memory_mib"])'
  for layout in nchw nhwc; do
    "$python" bench/torch_step.py --batch "$batch" --size "$size" --layout $layout |
      "$python" -c 'import json, sys; d = json.load(sys.stdin); print("torch-" + d["layout"], d["step_ms"], d["peak_memory_mib"])'
  done
done | tee "$figures"
"$python" - "$figures" <<'PY'
import collections, statistics, sys
steps = collections.defaultdict(list)
for line in open(sys.argv[1]):
    name, step, _ = line.split()
    steps[name].append(float(step))
medians = {name: statistics.median(values) for name, values in steps.items()}
best = min(value for name, value in medians.items() if name != "nmn")
print("median step:", ", ".join(f"{name} {value:.0f} ms" for name, value in medians.items()))
print(f"nmn / best of torch: {medians['nmn'] / best:.2f}")
PY
