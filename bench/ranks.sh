#!/usr/bin/env bash
# Ranks on one host's processors, by turns: a training step of nmn in one process of two threads, and on ranks of one thread
# each by Open MPI, and as many processes that have nothing to do with each other, each with its share: what a step of ranks
# takes more than theirs is communication. Of PyTorch in one process of two threads, and on as many ranks by DistributedDataParallel over Gloo.
#
#   bench/ranks.sh [-r ROUNDS] [-n RANKS] [-o FIGURES] [-m MODEL] [-b BATCH] [-s SIZE]
#
# By default 3 rounds, 2 and 4 ranks ("2 4"), VGG16, a batch of 4 pictures of 224 pixels: that of all ranks together. Steps
# have MIL and the feature-dependent noise model. PyTorch runs in both layouts; the better one counts. PYTHON names a Python
# with torch, and without one nmn runs alone; NMN a program built with the tag mpi, else one is built. FIGURES, by default
# build/bench/ranks.jsonl, gets a JSON line for each measurement, and a table is printed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=3 ranks="2 4" figures=build/bench/ranks.jsonl model=vgg16 batch=4 size=224 python=${PYTHON:-python3}
usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' bench/ranks.sh; }
while getopts r:n:o:m:b:s:h flag; do
  case $flag in
    r) rounds=$OPTARG ;;
    n) ranks=$OPTARG ;;
    o) figures=$OPTARG ;;
    m) model=$OPTARG ;;
    b) batch=$OPTARG ;;
    s) size=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# = 0 ] || { usage >&2; exit 2; }
for number in "$rounds" "$batch" "$size" $ranks; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "ranks.sh: $number is not a number from 1" >&2; exit 2; }
done
for n in $ranks; do
  [ "$n" -le "$batch" ] || { echo "ranks.sh: a batch of $batch has not a bag for each of $n ranks" >&2; exit 2; }
done
command -v mpirun >/dev/null || { echo "ranks.sh: there is no mpirun" >&2; exit 1; }
torch=yes
"$python" -c 'import torch' 2>/dev/null || { torch=; echo "ranks.sh: $python has no torch: nmn alone; PYTHON names another" >&2; }

nmn=${NMN:-build/nmn-mpi}
[ -n "${NMN:-}" ] || CGO_ENABLED=1 go build -tags mpi -o "$nmn" ./cmd/nmn
mkdir -p "$(dirname "$figures")"
: >"$figures"
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
# Every process may use every processor: what holds a rank to one core holds its threads to it.
launch=(mpirun --oversubscribe --bind-to none)
[ "$(id -u)" != 0 ] || launch+=(--allow-run-as-root)
shape=(--model "$model" --batch "$batch" --size "$size" --warmup 1 --repeats 3)

# measure WHO runs one of them once: nmn, nmn-2 on two ranks, torch-nchw, ddp-4-nhwc.
measure() {
  local who=$1 layout=${1##*-} n
  case $who in
    nmn) "$nmn" bench step "${shape[@]}" --device cpu --threads 2 --json ;;
    apart-*) apart "${who#apart-}" ;;
    nmn-*) "${launch[@]}" -n "${who#nmn-}" "$nmn" bench step "${shape[@]}" --device cpu --threads 1 --json ;;
    torch-*) "$python" bench/torch_step.py "${shape[@]}" --layout "$layout" --threads 2 ;;
    ddp-*)
      n=${who#ddp-}
      OMP_NUM_THREADS=1 "$python" bench/ddp_torch.py "${shape[@]}" --ranks "${n%-*}" --layout "$layout" --threads 1
      ;;
  esac | "$python" bench/table.py add "$figures" "${batch}x$size" "$who" "$round"
}

# apart N runs N processes at once, each with the share of a rank, and gives the figures of the slowest.
apart() {
  local n=$1 i running=()
  for ((i = 0; i < n; i++)); do
    "$nmn" bench step "${shape[@]}" --batch $(((batch + n - 1 - i) / n)) --device cpu --threads 1 --json >"$scratch/$i.json" &
    running+=($!)
  done
  for i in "${running[@]}"; do wait "$i"; done
  "$python" bench/ranks_table.py slowest "$scratch"/*.json
  rm "$scratch"/*.json
}

turns=(nmn)
for n in $ranks; do turns+=("nmn-$n" "apart-$n"); done
if [ -n "$torch" ]; then
  turns+=(torch-nchw torch-nhwc)
  for n in $ranks; do turns+=("ddp-$n-nchw" "ddp-$n-nhwc"); done
fi
for ((round = 1; round <= rounds; round++)); do
  for who in "${turns[@]}"; do measure "$who"; done
  turns=("${turns[@]:1}" "${turns[0]}") # another begins, so that a slow drift of the machine favours nobody
done
"$python" bench/ranks_table.py table "$figures"
