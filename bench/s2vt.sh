#!/usr/bin/env bash
# nmn and PyTorch by turns on the CPU: training steps of the captioner at the paper's sizes.
#
#   bench/s2vt.sh [-r ROUNDS] [-t THREADS] [-o FIGURES]
#
# PyTorch runs each of its forms once a round: layers over padded sequences or over frames and words in turn,
# with time or captions first, and logits only for target words. The best form counts. PYTHON names a Python
# with torch. FIGURES, by default build/bench/s2vt.jsonl, gets a JSON line for each measurement. The table of
# ratios is printed at the end. With more than one thread the machine must be idle: PyTorch's threads wait for
# each other, and lose far more to other load than nmn does. With -t 1 the processor's time can be compared on a
# busy machine too.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=3 threads=0 figures=build/bench/s2vt.jsonl python=${PYTHON:-python3}
usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' bench/s2vt.sh; }
while getopts r:t:o:h flag; do
  case $flag in
    r) rounds=$OPTARG ;;
    t) threads=$OPTARG ;;
    o) figures=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
[ $# -lt $OPTIND ] || { usage >&2; exit 2; }
[[ $rounds =~ ^[1-9][0-9]*$ && $threads =~ ^[0-9]+$ ]] || { echo "s2vt.sh: -r is $rounds and -t $threads, want numbers, -r from 1" >&2; exit 2; }
"$python" -c 'import torch' || { echo "s2vt.sh: $python has no torch; PYTHON names another" >&2; exit 1; }

CGO_ENABLED=0 go build -o build/nmn-bench ./cmd/nmn
mkdir -p "$(dirname "$figures")"
: >"$figures"
sizes=(--batch 32 --warmup 2 --repeats 8 --threads "$threads")

# keep WHO stores the figures of a measurement.
keep() { "$python" bench/table.py add "$figures" "s2vt 32×26, $threads threads" "$1" "$round"; }
ours() { build/nmn-bench bench step --model s2vt "${sizes[@]}" --device cpu --json | keep nmn; }
theirs() {
  local form layout
  for form in parts padded; do
    for layout in time batch; do
      "$python" bench/s2vt_torch.py "${sizes[@]}" --form $form --layout $layout | keep "$form, $layout first"
    done
  done
}

for ((round = 1; round <= rounds; round++)); do # the order changes, so that a slow drift of the machine favours neither
  turns=(ours theirs)
  ((round % 2)) || turns=(theirs ours)
  for turn in "${turns[@]}"; do $turn; done
done
"$python" bench/table.py ratios "$figures"
