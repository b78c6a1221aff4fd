#!/usr/bin/env bash
# Measures a training step on one host's processors, by turns: nmn in one process of two threads, nmn on ranks
# of one thread each by Open MPI, and the same number of independent processes, each with a rank's share. The
# difference between ranks and independent processes is communication. PyTorch runs in one process of two
# threads, and on the same number of ranks by DistributedDataParallel over Gloo.
#
#   bench/ranks.sh [-r ROUNDS] [-n RANKS] [-o FIGURES] [-m MODEL] [-b BATCH] [-s SIZE]
#
# The defaults are 3 rounds, 2 and 4 ranks ("2 4"), VGG16, and a batch of 4 pictures of 224 pixels for all ranks
# together. Steps have MIL and the feature-dependent noise model. PyTorch runs in both layouts, and the better
# one counts. PYTHON names a Python with torch. Without torch nmn runs alone. NMN names a program built with the
# tag mpi. By default one is built. FIGURES, by default build/bench/ranks.jsonl, gets a JSON line for each
# measurement. A table is printed at the end.
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
# Every process may use every processor. Binding a rank to one core would bind all its threads.
launch=(mpirun --oversubscribe --bind-to none)
[ "$(id -u)" != 0 ] || launch+=(--allow-run-as-root)
shape=(--model "$model" --batch "$batch" --size "$size" --warmup 1 --repeats 3)

# measure WHO runs one of these once: nmn, nmn-2 on two ranks, torch-nchw, ddp-4-nhwc.
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

# apart N runs N processes at once, each with the share of a rank, and prints the figures of the slowest.
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
  turns=("${turns[@]:1}" "${turns[0]}") # the order changes, so that a slow drift of the machine favours none
done
"$python" bench/ranks_table.py table "$figures"
