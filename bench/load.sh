#!/usr/bin/env bash
# nmn and PyTorch by turns: JPEG photographs from a folder onto the canvas, in batches.
#
#   bench/load.sh [-r ROUNDS] [-o FIGURES] [-s SIZE] [-w WORKERS] [-p PROGRAM] [-z RESIZE] [-f FIT] FOLDER
#
# nmn runs with each instruction set. PyTorch's DataLoader runs with float canvases,
# mean subtracted, and with uint8 ones. The better of them counts. With -z antialias Pillow runs too. FIT is
# longest or square. PYTHON names a Python with torch and torchvision, and PROGRAM another nmn than the one
# built here. FIGURES, by default build/bench/load.jsonl, gets a JSON line for each measurement. The table of
# ratios is printed at the end. A ratio of one half is twice as fast.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=3 figures=build/bench/load.jsonl size=565 workers=2 resize=bilinear fit=longest program='' python=${PYTHON:-python3}
usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' bench/load.sh; }
while getopts r:o:s:w:p:z:f:h flag; do
  case $flag in
    r) rounds=$OPTARG ;;
    o) figures=$OPTARG ;;
    s) size=$OPTARG ;;
    w) workers=$OPTARG ;;
    p) program=$OPTARG ;;
    z) resize=$OPTARG ;;
    f) fit=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] && [ -d "$1" ] || { echo "load.sh: want one folder of photographs, got: $*" >&2; exit 2; }
for number in "$rounds" "$size" "$workers"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "load.sh: $number is no number from 1" >&2; exit 2; }
done
[[ $resize =~ ^(bilinear|antialias)$ && $fit =~ ^(longest|square)$ ]] ||
  { echo "load.sh: -z is bilinear or antialias, -f longest or square" >&2; exit 2; }
"$python" -c 'import torchvision' || { echo "load.sh: $python has no torchvision; PYTHON names another" >&2; exit 1; }

if [ -z "$program" ]; then
  program=build/nmn-bench
  CGO_ENABLED=0 go build -o $program ./cmd/nmn
fi
mkdir -p "$(dirname "$figures")"
: >"$figures"
setting=(--size "$size" --workers "$workers" --batch 8 --warmup 1 --repeats 3 --resize "$resize" --fit "$fit")

# keep CASE WHO stores the figures of a measurement.
keep() { "$python" bench/table.py add "$figures" "$1" "$2" "$round"; }

ours() { # with each instruction set
  local name
  for name in "${names[@]}"; do
    on "$name" "$program" bench load "$1" "${setting[@]}" --json | keep "$name" nmn
  done
}
theirs() {
  local canvas name line
  local canvases=(float uint8)
  [ "$resize" = bilinear ] || canvases+=(pil)
  for canvas in "${canvases[@]}"; do
    line=$("$python" bench/torch_load.py "$1" "${setting[@]}" --canvas "$canvas")
    for name in "${names[@]}"; do keep "$name" "$canvas" <<<"$line"; done
  done
}

# on SET COMMAND... runs a command with an instruction set.
on() {
  local set=$1
  shift
  NMN_SIMD=$set "$@"
}

names=()
for name in generic avx2 avx512; do
  if on "$name" "$program" bench load "$1" --images 1 --warmup 0 --repeats 1 >/dev/null 2>&1; then names+=("$name"); fi
done
[ ${#names[@]} -gt 0 ] || { echo "load.sh: $program cannot load $1" >&2; exit 1; }
for ((round = 1; round <= rounds; round++)); do
  turns=(ours theirs) # the order changes, so that a slow drift of the machine favours neither
  ((round % 2)) || turns=(theirs ours)
  for turn in "${turns[@]}"; do $turn "$1"; done
done
"$python" bench/table.py ratios "$figures"
