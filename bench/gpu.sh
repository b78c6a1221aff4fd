#!/usr/bin/env bash
# Tests and measures the CUDA engine on the first card, beside PyTorch: bench/gpu.sh [PART...]
#
# Runs from an unpacked bundle (bench/bundle.sh), or from a checkout, where it makes the bundle's folder
# first. Needs a driver, and for PyTorch's side PYTHON (default python3) with torch; libcudnn may be
# torch's. Parts, in this order: facts tests machine steps peer curves idle profile sanitizer large. Each has a
# limit of time, all together TOTAL seconds (default 540); one that fails or is left out does not keep the
# next from running. Results go to OUT (default build/gpu): table.md, figures.jsonl, parts.txt, device.json
# (for cuda/cudnn/testdata), plans.json, logs.tar.gz. No setting of the card is changed.
#
# Exit code 0: all parts ran; 1: one failed; 3: none failed, but some were left out, with the reason in
# parts.txt. REHEARSAL=1 runs the script itself in miniature, on the CPU of PyTorch and on what NMN_LIBCUDA and
# NMN_LIBCUDNN name: the host emulator. Its figures mean nothing.
set -uo pipefail
script=$(readlink -f "$0")
root=$(dirname "$(dirname "$script")")
parts=(facts tests machine steps peer curves idle profile sanitizer large)
declare -A limit=([facts]=40 [tests]=150 [machine]=40 [steps]=90 [peer]=170 [curves]=40 [idle]=60 [profile]=60 [sanitizer]=90 [large]=120)
python=${PYTHON:-python3}
left_out=75 # exit code of a part that cannot run here; its last line says why

leave_out() { echo "left out: $*"; exit "$left_out"; }
need_card() {
  [ -z "${REHEARSAL:-}" ] || return 0
  command -v nvidia-smi >/dev/null || leave_out "no nvidia-smi: no driver on this host"
  local cards
  cards=$(nvidia-smi -L 2>&1) || true
  grep -q '^GPU' <<<"$cards" || leave_out "nvidia-smi sees no card: $(head -1 <<<"$cards")"
}
need_torch() {
  local sees='torch.cuda.is_available()'
  [ -z "${REHEARSAL:-}" ] || sees=True
  "$python" -c "import torch; assert $sees" 2>/dev/null || leave_out "$python has no torch that sees the card"
}

# The two shapes of the paper: a video of 26 frames with instances, 32 pictures without. Training for the loss
# curves and for the share of time that the card waits. What else is measured.
video=(--model vgg16 --batch 1 --frames 26 --size 565)
pictures=(--model vgg16 --batch 32 --size 224 --no-mil)
profiled=(--model vgg16 --batch 1 --frames 4 --size 565)
often=(--warmup 5 --repeats 20)
curve=(--preset scenes --mil --train-size 1600 --max-steps 50)
idle=(--preset scenes --net vgg16 --input-size 565 --mil --batch-size-mil 4 --max-steps 60)
mib=2048 sizes=4096,8192 peer_device=cuda compile=(--compile) noise=(--frames 26 --cells 144)
if [ -n "${REHEARSAL:-}" ]; then
  video=(--model vgg16 --width 0.01 --batch 1 --frames 2 --size 200 --classes 5)
  pictures=(--model scenes --width 0.1 --batch 2 --no-mil)
  profiled=("${pictures[@]}")
  often=(--warmup 1 --repeats 2)
  curve=(--preset scenes --mil --width 0.1 --train-size 128 --max-steps 4)
  idle=(--preset scenes --width 0.1 --input-size 32 --mil --batch-size-mil 2 --max-steps 14)
  mib=4 sizes=64,96 peer_device=cpu compile=() noise=(--frames 2 --cells 9)
fi

# keep CASE WHO COMMAND... runs a measurement for at most a minute, or $each seconds, and keeps its JSON. One that
# fails is told; the part goes on, and fails at its end.
failed=0
keep() {
  local case=$1 who=$2
  shift 2
  if ! timeout --foreground "${each:-60}" "$@" >"$work/keep.json" ||
    ! "$python" "$root/bench/table.py" add "$OUT/figures.jsonl" "$case" "$who" 1 <"$work/keep.json"; then
    echo "failed: $case of $who: $*"
    failed=1
  fi
}
nmn() { "$root/nmn" "$@"; }

part_facts() {
  need_card
  nmn version
  cat "$root/commit"
  "$python" -c 'import torch; print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version())' || echo "no torch"
  [ -z "${REHEARSAL:-}" ] || return 0
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit --format=csv
  cd "$root/cuda/cudnn" && NMN_REQUIRE=cuda NMN_DESCRIPTION=$OUT/device.json ./cudnn.test -test.run 'TestCard_DescribesItself' -test.v
}

part_tests() {
  need_card
  local name
  export NMN_REQUIRE=cuda NMN_TEST_DEVICE=cuda
  for name in cuda cuda/cudnn kernels model train; do
    local select=.
    case $name in kernels) select=CUDA ;; model | train) select='TinyNet|CUDA' ;; esac
    if [ -n "${REHEARSAL:-}" ]; then
      case $name in cuda | cuda/cudnn) continue ;; kernels) select='TestCUDA_Conforms/^(Zero|SGD)$' ;; train) select=TinyNet ;; esac
    fi
    echo "== $name"
    if ! (cd "$root/$name" && timeout --foreground 100 "./$(basename "$name").test" -test.short -test.v -test.run "$select"); then
      echo "failed: $name"
      failed=1
    fi
  done
  return "$failed"
}

part_machine() {
  need_card
  local precision
  keep copy nmn "$root/nmn" bench memory --device cuda --mib "$mib" --json
  for precision in $(precisions); do
    keep "gemm $precision" nmn "$root/nmn" bench gemm --device cuda --precision "$precision" --sizes "$sizes" --json
  done
  return "$failed"
}

# precisions lists those that nmn has on a card, the fastest first.
precisions() {
  local all="tf32 fp32"
  [ -z "${REHEARSAL:-}" ] || all=fp32 # the emulator has no TF32
  if grep -q bf16 <<<"$(nmn bench step --help)"; then all="bf16 $all"; fi
  echo "$all"
}
fastest() { precisions | cut -d' ' -f1; }

part_steps() {
  need_card
  local precision how each=40
  for precision in $(precisions); do
    how=(--device cuda --precision "$precision" "${often[@]}" --json)
    if [ "$precision" != fp32 ] || [ -n "${REHEARSAL:-}" ]; then # choosing plans for it would take a minute
      keep "1x26x565 $precision" nmn "$root/nmn" bench step "${video[@]}" "${how[@]}"
    fi
    keep "32x224 $precision" nmn "$root/nmn" bench step "${pictures[@]}" "${how[@]}"
  done
  how=(--device cuda --precision "$(fastest)" "${often[@]}" --json)
  timeout --foreground 40 "$root/nmn" bench ops "${video[@]}" "${how[@]}" >"$OUT/ops.json" || failed=1
  return "$failed"
}

part_peer() {
  need_card
  need_torch
  local each=70
  peer() { keep "$1" "$2" "$python" "$root/bench/torch_step.py" --device "$peer_device" --layout nhwc "${often[@]}" "${@:3}"; }
  machine() { keep "$1" "$2" "$python" "$root/bench/torch_machine.py" "${@:3}" --device "$peer_device"; }
  machine "noise step" compiled noise "${noise[@]}" ${compile[@]+"${compile[@]}"} "${often[@]}"
  machine copy torch copy --mib "$mib"
  machine "gemm bf16" torch.mm gemm --precision bf16 --sizes "$sizes"
  peer "1x26x565 bf16" compiled "${video[@]}" --precision bf16 ${compile[@]+"${compile[@]}"}
  peer "32x224 bf16" compiled "${pictures[@]}" --precision bf16 ${compile[@]+"${compile[@]}"}
  peer "1x26x565 bf16" eager "${video[@]}" --precision bf16
  peer "32x224 bf16" eager "${pictures[@]}" --precision bf16
  peer "32x224 tf32" compiled "${pictures[@]}" --precision tf32 ${compile[@]+"${compile[@]}"}
  peer "1x26x565 tf32" eager "${video[@]}" --precision tf32
  return "$failed"
}

part_curves() {
  need_card
  local settings=("${curve[@]}" --arm stage1 --epochs 1 --validation-size 32 --test-size 32 --log-interval 1 --quiet)
  nmn train "${settings[@]}" --device cpu --run-dir "$work/curve-cpu" || return 1
  local precision
  for precision in $(precisions); do
    nmn train "${settings[@]}" --device cuda --precision "$precision" --run-dir "$work/curve-$precision" &&
      "$python" "$root/bench/gpu_table.py" curve "$OUT/figures.jsonl" "$precision" "$work"/curve-{cpu,"$precision"}/log.jsonl || failed=1
  done
  return "$failed"
}

part_idle() {
  need_card
  nmn scenes --number 400 "$work/pictures" --quiet >/dev/null || return 1
  nvidia-smi dmon -s u -d 1 >"$work/dmon.txt" &
  local monitor=$!
  nmn train "${idle[@]}" --arm stage1 --epochs 1 --log-interval 1 --quiet \
    --captions "$work/pictures/captions_train2014.json" --images "$work/pictures/images" --vocab "$work/pictures/vocabulary.txt" --noise 0 \
    --workers "$(nproc)" --device cuda --precision "$(fastest)" --run-dir "$work/idle"
  local code=$?
  kill "$monitor" 2>/dev/null
  [ "$code" = 0 ] || return "$code"
  "$python" "$root/bench/gpu_table.py" idle "$OUT/figures.jsonl" "$work/idle/log.jsonl" "$work/dmon.txt"
}

part_profile() {
  need_card
  command -v ncu >/dev/null || leave_out "no ncu (Nsight Compute) on the PATH"
  local names metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum
  metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__throughput.avg.pct_of_peak_sustained_elapsed
  names=$(paste -sd'|' "$root/kernels.txt")
  # The settings of the card stay as they are: no clock control.
  ncu --clock-control none --csv --page raw --kernel-name "regex:^($names)\$" --launch-count 60 \
    --metrics "$metrics" \
    "$root/nmn" bench ops "${profiled[@]}" --device cuda --precision "$(fastest)" --warmup 0 --repeats 1 --json >"$work/ncu.csv"
  local code=$?
  if [ "$code" != 0 ]; then
    local refused
    refused=$(grep -m1 -E 'ERR_NVGPUCTRPERM|LibraryNotLoaded' "$work/ncu.csv") && leave_out "no hardware counters here: $refused"
    tail -5 "$work/ncu.csv"
    return 1
  fi
  "$python" "$root/bench/gpu_table.py" ncu "$OUT/figures.jsonl" "$work/ncu.csv"
}

part_sanitizer() {
  need_card
  command -v compute-sanitizer >/dev/null || leave_out "no compute-sanitizer on the PATH"
  cd "$root/kernels" || return 1
  local tool
  # Our own kernels: the convolutions of cuDNN are left out.
  for tool in memcheck racecheck; do
    echo "== $tool"
    NMN_REQUIRE=cuda timeout --foreground 42 compute-sanitizer --tool "$tool" --error-exitcode 9 ./kernels.test -test.short -test.run TestCUDA_Conforms \
      -test.skip 'TestCUDA_Conforms/^(Conv|ConvGradData|ConvGradFilter)$'
    local code=$?
    if [ "$code" != 0 ]; then
      echo "failed: $tool, exit code $code (124: out of time)"
      failed=1
    fi
  done
  return "$failed"
}

# The sizes of the real network, which take long to compute in float64 beside.
part_large() {
  need_card
  [ -z "${REHEARSAL:-}" ] || leave_out "too large for a rehearsal"
  cd "$root/kernels" && NMN_REQUIRE=cuda ./kernels.test -test.v -test.run TestCUDA_Conforms
}

if [ "${1:-}" = --one ]; then # one part, in a process of its own that can be stopped
  "part_$2"
  exit
fi

case ${1:-} in -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$script"; exit 0 ;; esac
for name in "$@"; do
  [ -n "${limit[$name]:-}" ] || { echo "gpu.sh: there is no part $name: want ${parts[*]}" >&2; exit 2; }
done
[ $# = 0 ] || parts=("$@")
if [ -f "$root/go.mod" ]; then # a checkout
  OUT=${OUT:-$root/build/gpu}
  "$root/bench/bundle.sh" || exit 1
  root=$root/build/bundle/nmn-gpu
  script=$root/bench/gpu.sh
fi
mkdir -p "${OUT:=$PWD/build/gpu}"
OUT=$(readlink -f "$OUT")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/logs"
export OUT work XDG_CACHE_HOME=$work/cache # plans are chosen anew, and then kept for all parts
: >"$OUT/parts.txt"
rm -f "$OUT/figures.jsonl" "$OUT/ops.json"
touch "$OUT/figures.jsonl"
result=0
for name in "${parts[@]}"; do
  began=$SECONDS
  rest=$((${TOTAL:-540} - SECONDS))
  seconds=$((limit[$name] < rest ? limit[$name] : rest))
  if [ "$seconds" -lt 5 ]; then
    told="left out: no time left of ${TOTAL:-540} s"
    code="$left_out"
  else
    timeout -k 5 "$seconds" "$script" --one "$name" >"$work/logs/$name.log" 2>&1
    code=$?
    told=$(tail -1 "$work/logs/$name.log")
  fi
  case "$code" in
    0) told="ran" ;;
    "$left_out") [ $result != 0 ] || result=3 ;;
    *)
      reasons=$(grep -hE '^failed: |^--- FAIL|^nmn: ' "$work/logs/$name.log" | cut -c1-160 | head -4 | paste -sd';')
      [ "$code" != 124 ] || reasons="out of time after $seconds s; $reasons"
      told="failed with exit code $code: ${reasons:-$told}"
      result=1
      ;;
  esac
  echo "$name: $told ($((SECONDS - began)) s)" | tee -a "$OUT/parts.txt"
done
cp "$work"/cache/nmn/*.json "$OUT/plans.json" 2>/dev/null
cp "$work"/ncu.csv "$work"/dmon.txt "$work"/logs/ 2>/dev/null
tar czf "$OUT/logs.tar.gz" -C "$work" logs
"$python" "$root/bench/gpu_table.py" table "$OUT" >"$OUT/table.md" || result=1
cat "$OUT/table.md"
exit $result
