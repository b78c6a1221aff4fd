#!/usr/bin/env bash
# Tests and measures the CUDA engine on a card, and PyTorch for comparison: bench/gpu.sh [--resume] [PART...]
#
# Runs from an unpacked bundle (bench/bundle.sh), or from a checkout, in which it first makes the bundle's
# folder. Needs a driver and Python 3.8 (PYTHON names one), with torch for the comparison. libcudnn may come
# from torch. Parts, the most important first:
#
#   facts warmup headline tests ops machine shapes curves idle ranks profile sanitizer large
#
# Each part has a time limit (LIMITS="headline=300 tests=200" sets others), and all together have TOTAL seconds
# (default 540). If a part fails, hangs or cannot run, the next one still runs. Results are written as they come
# to OUT (default build/gpu): table.md, figures.jsonl, parts.txt, log.txt, ops.json, ncu.csv, device.json (for
# cuda/cudnn/testdata) and plans.tar.gz. They are whole even if the script is killed.
#
# --resume continues with the results in OUT and repeats no finished part or measurement. Results of another
# commit or card move to OUT/before. Without --resume all results move there. Plans stay. CACHE is a folder for
# plans and compiled code of later calls (default: cache in the bundle). No setting of the card is changed.
#
# Exit codes:
#
#   0    all parts ran
#   1    one failed
#   2    it could not begin
#   3    none failed, but some were left out or not finished, with the reason in parts.txt
#   143  stopped
#
# REHEARSAL=1 runs the script in miniature on PyTorch's CPU and on the emulator that NMN_LIBCUDA and
# NMN_LIBCUDNN name. Its figures mean nothing.
set -uo pipefail
script=$(readlink -f "${BASH_SOURCE[0]}")
root=$(dirname "$(dirname "$script")")
order=(facts warmup headline tests ops machine shapes curves idle ranks profile sanitizer large)
declare -A limit=([facts]=60 [warmup]=80 [headline]=280 [tests]=150 [ops]=45 [machine]=50 [shapes]=240 [curves]=60
  [idle]=60 [ranks]=50 [profile]=60 [sanitizer]=170 [large]=150)
python=${PYTHON:-python3}
left_out=75   # exit code of a part that cannot run here; its last line gives the reason
unfinished=76 # exit code of a part that ran out of time

now() { printf '%(%s)T' -1; }
die() { echo "gpu.sh: $*" >&2; exit 2; }
# unpack ARCHIVE FOLDER uses Python, because some hosts lack xz.
unpack() { "$python" -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$1" "$2" 2>/dev/null; }
# deliver NAME copies a result from $work to OUT. Readers find either the old or the new version. Unfinished
# copies are in OUT/new, because some hosts return a limited number of files of OUT.
deliver() { mkdir -p "$OUT/new" && cp "$work/$1" "$OUT/new/" && mv -f "$OUT/new/$1" "$OUT/"; }
# tabulate writes the table again.
tabulate() { "$python" "$root/bench/gpu_table.py" table "$OUT" >"$work/table.md" && deliver table.md; }

if [ "${1:-}" = --one ]; then # one part, in a separate process that can be stopped
  # shellcheck source=bench/gpu_parts.sh
  . "$root/bench/gpu_parts.sh"
  one_part "$2"
fi

resume=
case ${1:-} in
  -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$script"; exit 0 ;;
  --resume) resume=1; shift ;;
esac
for name in "$@"; do
  [ -n "${limit[$name]:-}" ] || die "there is no part $name: want ${order[*]}"
done
parts=("${order[@]}")
[ $# = 0 ] || parts=("$@")
for pair in ${LIMITS:-}; do
  [[ $pair =~ ^([a-z]+)=([1-9][0-9]*)$ ]] && [ -n "${limit[${BASH_REMATCH[1]}]:-}" ] || die "LIMITS has $pair, want PART=SECONDS"
  limit[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
done
total=${TOTAL:-540}
[[ $total =~ ^[1-9][0-9]*$ ]] || die "TOTAL is $total, want seconds"
"$python" -c 'import sys; assert sys.version_info >= (3, 8)' 2>/dev/null || die "$python is no Python from 3.8 on; PYTHON names another"

cache=${CACHE:-$root/cache}
if [ -f "$root/go.mod" ]; then # a checkout
  OUT=${OUT:-$root/build/gpu}
  cache=${CACHE:-$root/build/gpu-cache}
  if command -v go >/dev/null; then
    "$root/bench/bundle.sh" --folder || exit 1
  else
    unpack "$root"/build/nmn-gpu-bundle.tar.* "$root/build/bundle" || die "without Go a checkout needs build/nmn-gpu-bundle.tar.xz: make offline-bundle"
  fi
  root=$root/build/bundle/nmn-gpu
  script=$root/bench/gpu.sh
fi
SECONDS=0
mkdir -p "${OUT:=$PWD/build/gpu}" || die "cannot make the folder $OUT"
OUT=$(readlink -f "$OUT")
# Only one script at a time writes there. Processes left by a killed script hold the lock until they end.
exec 9<"$OUT"
if command -v flock >/dev/null && ! flock -w 20 9; then die "another gpu.sh is at work in $OUT"; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$cache" 2>/dev/null && [ -w "$cache" ] || cache=$work/cache
cache=$(readlink -m "$cache")
# Tools of a driver or a toolkit outside the PATH.
for folder in ${GPU_TOOLS-/usr/local/nvidia/bin /usr/local/cuda/bin /opt/nvidia/nsight-compute/*}; do
  if [ -d "$folder" ]; then PATH=$PATH:$folder; fi
done
# library VARIABLE NAME PACKAGE makes nmn use a library of this Python if the host has none. The Python
# environment may be one that nmn does not find.
library() {
  local folder
  if [ -n "${!1:-}" ] || ldconfig -p 2>/dev/null | grep -q "$2"; then return 0; fi
  folder=$("$python" -c "import os, $3; print(os.path.join(list($3.__path__)[0], 'lib'))" 2>/dev/null) || return 0
  export "$1=$folder"
}
if [ -z "${REHEARSAL:-}" ]; then
  library NMN_LIBCUDNN libcudnn.so.9 nvidia.cudnn
  library NMN_LIBNCCL libnccl.so.2 nvidia.nccl
fi
export OUT work MAIN=$$ XDG_CACHE_HOME=$cache TORCHINDUCTOR_CACHE_DIR=$cache/inductor TRITON_CACHE_DIR=$cache/triton

# The subject of the results: commit and card.
subject() {
  local cards="a rehearsal"
  [ -n "${REHEARSAL:-}" ] || cards=$(timeout 20 nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) || cards=
  cards=${cards%%$'\n'*}
  echo "# $(cat "$root/commit" 2>/dev/null || echo unknown), ${cards:-no card}"
}
results=(table.md figures.jsonl parts.txt log.txt ops.json ncu.csv device.json plans.tar.gz)
subject=$(subject)
if [ -n "$resume" ] && [ -s "$OUT/parts.txt" ]; then
  read -r before <"$OUT/parts.txt"
  if [ "$before" != "$subject" ]; then
    echo "gpu.sh: the results in $OUT come from ${before#\# }, and this is ${subject#\# }: they go to $OUT/before" >&2
    resume=
  fi
else
  resume=
fi
if [ -z "$resume" ]; then
  if [ -s "$OUT/figures.jsonl" ]; then
    rm -rf "${OUT:?}/before" && mkdir "$OUT/before" || die "the results in $OUT could not be put aside"
    for name in "${results[@]}"; do [ ! -e "$OUT/$name" ] || cp "$OUT/$name" "$OUT/before/" || die "the results in $OUT could not be put aside"; done
  fi
  for name in "${results[@]}"; do [ "$name" = plans.tar.gz ] || rm -f "${OUT:?}/$name"; done
  echo "$subject" >"$OUT/parts.txt"
fi
touch "$OUT/figures.jsonl" "$OUT/log.txt"
if [ ! -d "$cache/nmn" ] && [ -s "$OUT/plans.tar.gz" ]; then tar xzf "$OUT/plans.tar.gz" -C "$cache"; fi

# state PART TEXT stores the state of a part, one line each.
state() {
  { grep -v "^$1: " "$OUT/parts.txt"; echo "$1: $2"; } >"$work/parts.txt"
  deliver parts.txt
}

stopped='' child=''
stop() { stopped=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null; }
trap stop TERM INT HUP

# part NAME runs one part within its limit and the remaining total. $result is the script's exit code so far.
result=0
part() {
  local name=$1 began=$SECONDS left=$((total - SECONDS - 2)) seconds outcome code offset reasons
  seconds=$((limit[$name] < left ? limit[$name] : left))
  if [ "$seconds" -lt 5 ]; then
    state "$name" "left out: no time left of $total s"
    echo "$name: left out: no time left of $total s"
    [ $result != 0 ] || result=3
    return
  fi
  state "$name" "not finished: it had begun when all was killed"
  offset=$(($(wc -c <"$OUT/log.txt") + 1))
  ENDS=$(($(now) + seconds - 2)) timeout -k 4 "$seconds" bash "$script" --one "$name" >>"$OUT/log.txt" 2>&1 &
  child=$!
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done # a signal ends a wait early
  child=
  tail -c "+$offset" "$OUT/log.txt" >"$work/part.log"
  reasons=$(grep -hE '^(failed|cut|left out): |^--- FAIL|^nmn: ' "$work/part.log" | cut -c1-160 | sed -n 1,4p | paste -sd';')
  if [ -n "$stopped" ]; then
    outcome="not finished: stopped" result=143
  else
    case "$code" in
      0) outcome="ran" ;;
      "$left_out") outcome=$(tail -n 1 "$work/part.log") ;;
      "$unfinished") outcome="not finished: $reasons" ;;
      124 | 137) outcome="not finished: out of time after $seconds s; $reasons" ;;
      *) outcome="failed with exit code $code: ${reasons:-$(tail -n 1 "$work/part.log")}" ;;
    esac
    case "$outcome" in
      ran) ;;
      failed*) result=1 ;;
      *) [ $result != 0 ] || result=3 ;;
    esac
  fi
  state "$name" "$outcome ($((SECONDS - began)) s of ${limit[$name]})"
  echo "$name: $outcome ($((SECONDS - began)) s of ${limit[$name]})"
  if [ -d "$cache/nmn" ]; then
    tar czf "$work/plans.tar.gz" -C "$cache" nmn && deliver plans.tar.gz
  fi
  tabulate || { echo "failed: no table could be made"; [ $result = 143 ] || result=1; }
}

for name in "${parts[@]}"; do
  [ -z "$stopped" ] || break
  if [ -n "$resume" ] && grep -q "^$name: ran" "$OUT/parts.txt"; then continue; fi
  part "$name"
done
if [ -n "$stopped" ]; then result=143; fi
rm -rf "${OUT:?}/new"
cat "$OUT/table.md"
exit $result
