# shellcheck shell=bash
# The parts of bench/gpu.sh, which sources this file. Each runs in a separate process, until $ENDS at most.
# shellcheck disable=SC2154 # root, python, left_out, unfinished and now are gpu.sh's; OUT, work, MAIN, ENDS it exports

leave_out() { echo "left out: $*"; exit "$left_out"; }
need_card() {
  [ -z "${REHEARSAL:-}" ] || return 0
  if ! command -v nvidia-smi >/dev/null; then
    within 60 "$root/nmn" bench machine --device cuda --sizes "" --mib 1 --repeats 1 >"$work/cards.txt" 2>&1 ||
      leave_out "there is no nvidia-smi, and nmn opens no card: $(tail -n 1 "$work/cards.txt")"
    return 0
  fi
  within 20 nvidia-smi -L >"$work/cards.txt" 2>&1
  grep -q '^GPU' "$work/cards.txt" || leave_out "nvidia-smi sees no card: $(sed -n 1p "$work/cards.txt")"
}

# torch_sees reports whether PyTorch sees the card. Importing torch takes seconds, so the answer is stored.
torch_sees() {
  local sees='torch.cuda.is_available()' # in a rehearsal PyTorch computes on the CPU
  [ -z "${REHEARSAL:-}" ] || sees=True
  if [ ! -e "$work/torch.txt" ] && within 90 "$python" -c "import torch; assert $sees" 2>"$work/torch.err"; then
    : >"$work/torch.txt"
  fi
  [ -e "$work/torch.txt" ]
}
no_torch() { echo "$python has no torch that sees the card ($(sed -n '$p' "$work/torch.err" 2>/dev/null))"; }

# The two shapes of the paper: a video of 26 frames with instances, and 32 pictures without. Then training for
# the loss curves and for the time that the card waits, and the other measurements.
video=(--model vgg16 --batch 1 --frames 26 --size 565)
pictures=(--model vgg16 --batch 32 --size 224 --no-mil)
profiled=(--model vgg16 --batch 1 --frames 4 --size 565)
captioner=(--model s2vt --batch 32)
often=(--warmup 5 --repeats 20)
once=(--warmup 1 --repeats 1)
curve=(--preset scenes --mil --set data.train_size=1600 --set train.max_steps=50)
idle=(--preset scenes --net vgg16 --input-size 565 --mil --set train.batch_size_mil=4 --set train.max_steps=1500)
forms=(eager "eager, one graph" compiled "compiled, graphs") # of PyTorch, the fastest to start first
mib=2048 sizes=4096,8192 peer_device=cuda noise=(--frames 26 --cells 144)
if [ -n "${REHEARSAL:-}" ]; then
  video=(--model vgg16 --width 0.01 --batch 1 --frames 2 --size 200 --classes 5)
  pictures=(--model scenes --width 0.1 --batch 2 --no-mil)
  profiled=("${pictures[@]}")
  captioner=(--model s2vt --batch 2 --width 0.02 --vocab-size 50)
  often=(--warmup 1 --repeats 2)
  curve=(--preset scenes --mil --set net.width=0.1 --set data.train_size=128 --set train.max_steps=4)
  idle=(--preset scenes --set net.width=0.1 --input-size 32 --mil --set train.batch_size_mil=2 --set train.max_steps=14)
  forms=(eager)
  mib=4 sizes=64,96 peer_device=cpu noise=(--frames 2 --cells 9)
fi

# within SECONDS COMMAND... runs a command for at most that long, and no longer than the part may last. Its exit
# code is 124 if the time was too short.
within() {
  local seconds=$1 left=$((ENDS - $(now))) code
  shift
  kill -0 "$MAIN" 2>/dev/null || { echo "cut: gpu.sh was killed"; exit "$unfinished"; }
  [ "$seconds" -lt "$left" ] || seconds=$left
  [ "$seconds" -ge 2 ] || return 124
  timeout -k 3 "$seconds" "$@" &
  wait $!
  code=$?
  [ "$code" != 137 ] || code=124
  return "$code"
}
# Commands run in a separate process group, which survives the end of this process.
end='kill -TERM $(jobs -p) 2>/dev/null; wait; exit 143'
trap "$end" TERM INT

# parallel COMMAND... starts one of several parallel measurements. together waits for all of them.
parallel() {
  (
    trap "$end" TERM INT
    "$@"
    [ "$failed" = 0 ] || exit 1
    [ "$cut" = 0 ] || exit "$unfinished"
  ) &
}
together() {
  local job
  for job in $(jobs -p); do
    wait "$job"
    case $? in
      0) ;;
      "$unfinished") cut=1 ;;
      *) failed=1 ;;
    esac
  done
}

failed=0 cut=0 absent='' round=1
# judge CODE WHAT reports a command that did not succeed. The part continues, and reports the failure at its
# end.
judge() {
  case "$1" in
    0) return 0 ;;
    124) echo "cut: $2"; cut=1 ;;
    *) echo "failed: $2, exit code $1"; failed=1 ;;
  esac
  return 1
}
measured() { "$python" "$root/bench/table.py" has "$OUT/figures.jsonl" "$1" "$2" "$round"; } # CASE WHO

# since BEGAN prints the time since then, in seconds with three decimals. clock prints such a BEGAN.
clock() { date +%s%N; }
since() { local ms=$((($(clock) - $1) / 1000000)); printf '%d.%03d' $((ms / 1000)) $((ms % 1000)); }

# keep CASE WHO COMMAND... runs a measurement for at most a minute, or $each seconds, and stores its JSON at
# once.
keep() {
  local case=$1 who=$2 began took code
  shift 2
  if measured "$case" "$who"; then return 0; fi
  began=$(clock)
  within "${each:-60}" "$@" >"$work/keep.json"
  code=$?
  took=$(since "$began")
  judge "$code" "$case of $who after $took s: $*" || return 1
  "$python" "$root/bench/table.py" add "$OUT/figures.jsonl" "$case" "$who" "$round" "$took" <"$work/keep.json" ||
    judge 1 "$case of $who has no figures: $*" || return 1
  tabulate
}

# precisions lists nmn's precisions on a card, the fastest first.
precisions() {
  local all="bf16 tf32 fp32"
  [ -z "${REHEARSAL:-}" ] || all="bf16 fp32" # the emulator has no TF32
  echo "$all"
}
ours() { keep "$1" nmn "$root/nmn" bench step --device cuda --precision "${1#* }" --json "${@:2}"; } # CASE FLAGS...
# theirs CASE FORM FLAGS... measures the case in PyTorch.
theirs() {
  local how=()
  case $2 in
    compiled) how=(--compile) ;;
    "compiled, graphs") how=(--compile reduce-overhead) ;;
    "eager, one graph") how=(--graph) ;;
  esac
  keep "$1" "$2" "$python" "$root/bench/torch_step.py" --device "$peer_device" --layout nhwc --norm --precision "${1#* }" "${@:3}" ${how[@]+"${how[@]}"}
}
# by_turns CASE ROUNDS FLAGS... measures nmn and PyTorch by turns, with all forms of PyTorch in the first round
# and the best form in the others.
by_turns() {
  local case=$1 rounds=$2 form best
  shift 2
  for ((round = 1; round <= rounds; round++)); do
    each=60 ours "$case" "$@"
    clocks
    if ! torch_sees; then absent="PyTorch's side: $(no_torch)"; continue; fi
    if [ "$round" = 1 ]; then
      for form in "${forms[@]}"; do each=120 theirs "$case" "$form" "$@"; done
    elif best=$("$python" "$root/bench/table.py" best "$OUT/figures.jsonl" "$case" step_ms); then
      each=120 theirs "$case" "$best" "$@"
    fi
    clocks
  done
  round=1
}
# clocks logs the state of the card, to explain unexpected figures.
clocks() {
  [ -n "${REHEARSAL:-}" ] ||
    within 10 nvidia-smi --query-gpu=clocks.sm,clocks.mem,temperature.gpu,power.draw --format=csv,noheader
}

part_facts() {
  "$root/nmn" version
  cat "$root/commit"
  if [ -z "${REHEARSAL:-}" ]; then
    within 10 nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit --format=csv
    cd "$root/cuda/cudnn" || return 1
    NMN_REQUIRE=cuda NMN_DESCRIPTION=$OUT/device.json within 30 ./cudnn.test -test.run 'TestCard_(DescribesItself|OffersEngines)' -test.v
    judge $? "the card's description, or its engines"
  fi
  # Last, because an import from a cold disk may take all the time that is left.
  within 60 "$python" -c 'import torch; print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version())' || echo "no torch"
}

# The time from the start of the program to the end of its first steps, without plans and with them.
part_warmup() {
  local start
  for start in "first start" "later start"; do # the log shows what it waits for
    XDG_CACHE_HOME=$work/starts each=90 keep "$start" nmn "$root/nmn" bench step --device cuda --precision bf16 --json -vv "${video[@]}" "${once[@]}"
  done
  if [ -d "$work/starts" ]; then cp -Rn "$work/starts/." "$XDG_CACHE_HOME/"; fi
}

part_headline() { by_turns "1x26x565 bf16" 3 "${video[@]}" "${often[@]}"; }

# suite NAME PACKAGE SECONDS FLAGS... runs tests of a package and counts them.
suite() {
  local name=$1 package=$2 seconds=$3 began code
  shift 3
  if measured "tests $name" nmn; then return 0; fi
  began=$(clock)
  cd "$root/$package" || return 1
  NMN_REQUIRE=cuda NMN_TEST_DEVICE=cuda within "$seconds" "./$(basename "$package").test" -test.v "$@" >"$work/suite $name.txt" 2>&1
  code=$?
  "$python" "$root/bench/gpu_table.py" suite "$OUT/figures.jsonl" "$name" "$code" "$(since "$began")" <"$work/suite $name.txt"
  judge "$code" "tests $name after $(since "$began") s" >>"$work/suite $name.txt"
}
# cuDNN's operations. Each case first chooses plans.
convolutions='^(Conv|ConvAdd|ConvGradData|ConvGradDataBias|ConvGradFilter|Linear|PrepareLinear|PatchEmbed|LSTM|LSTMGrad|CrossEntropy)$'
export NMN_TEST_PLANS=$XDG_CACHE_HOME/tests

part_tests() {
  if [ -n "${REHEARSAL:-}" ]; then
    parallel suite "kernels" kernels 60 -test.short -test.run '^TestCUDA_Conforms$/^(fp32|bf16)$/^(Zero|SGD|BagPool)$'
    parallel suite "nets" model 60 -test.short -test.run TinyNet
    parallel suite "training" train 60 -test.short -test.run '^TestCUDA_TrainsAsTheHostDoes$/^ragged'
  else
    suite "engine" cuda 30 -test.short # alone, because it takes all memory of the card
    parallel suite "kernels bf16" kernels 90 -test.short -test.run '^TestCUDA_Conforms$/^bf16$' -test.skip "^TestCUDA_Conforms\$/./$convolutions"
    parallel suite "nets" model 90 -test.short -test.run 'TinyNet|CUDA'
    parallel suite "training" train 120 -test.short -test.run 'TinyNet|CUDA'
    parallel suite "cuDNN" cuda/cudnn 120 -test.short -test.run 'TestCard_'
    parallel suite "convolutions bf16" kernels 120 -test.short -test.run "^TestCUDA_Conforms\$/^bf16\$/$convolutions"
    parallel suite "kernels, the rest" kernels 120 -test.short -test.run CUDA -test.skip '^TestCUDA_Conforms$/^bf16$'
  fi
  together
  tell_suites
}

# tell_suites logs the output of each suite under its name.
tell_suites() {
  tail -n +1 "$work"/suite*.txt 2>/dev/null
  tabulate
}

part_ops() {
  if [ -s "$OUT/ops.json" ]; then return 0; fi
  within 60 "$root/nmn" bench ops "${video[@]}" --device cuda --precision bf16 "${often[@]}" --json >"$work/ops.json"
  judge $? "nmn bench ops" && deliver ops.json
}

part_machine() {
  local precision
  keep copy nmn "$root/nmn" bench machine --device cuda --sizes "" --mib "$mib" --json
  keep "gemm bf16" nmn "$root/nmn" bench machine --device cuda --precision bf16 --sizes "$sizes" --mib 0 --json
  if torch_sees; then
    machine() { keep "$1" "$2" "$python" "$root/bench/torch_machine.py" "${@:3}" --device "$peer_device"; }
    machine copy torch copy --mib "$mib"
    machine "gemm bf16" torch.mm gemm --precision bf16 --sizes "$sizes"
    local compile=(--compile)
    [ -z "${REHEARSAL:-}" ] || compile=()
    machine "noise step" compiled noise "${noise[@]}" ${compile[@]+"${compile[@]}"} "${often[@]}"
  else
    absent="PyTorch's side: $(no_torch)"
  fi
  for precision in $(precisions); do
    keep "gemm $precision" nmn "$root/nmn" bench machine --device cuda --precision "$precision" --sizes "$sizes" --mib 0 --json
  done
}

part_shapes() {
  local all=("${forms[@]}")
  by_turns "32x224 bf16" 2 "${pictures[@]}" "${often[@]}"
  keep "captioner" nmn "$root/nmn" bench step "${captioner[@]}" --device cuda "${often[@]}" --json
  [ -n "${REHEARSAL:-}" ] || forms=(eager compiled)
  if [ -z "${REHEARSAL:-}" ]; then
    by_turns "1x26x565 tf32" 1 "${video[@]}" "${often[@]}"
    by_turns "32x224 tf32" 1 "${pictures[@]}" "${often[@]}"
  fi
  forms=(eager)
  by_turns "32x224 fp32" 1 "${pictures[@]}" "${often[@]}"
  forms=("${all[@]}")
}

part_curves() {
  local settings=("${curve[@]}" --arm stage1 --epochs 1 --set data.validation_size=32 --set data.test_size=32 --set train.log_steps=1 --quiet) precision
  within 60 "$root/nmn" train "${settings[@]}" --device cpu --run-dir "$work/curve-cpu"
  judge $? "training on the CPU" || return
  for precision in $(precisions); do
    if measured "curve $precision" nmn; then continue; fi
    within 60 "$root/nmn" train "${settings[@]}" --device cuda --precision "$precision" --run-dir "$work/curve-$precision"
    judge $? "training in $precision" || continue
    "$python" "$root/bench/gpu_table.py" curve "$OUT/figures.jsonl" "$precision" "$work"/curve-{cpu,"$precision"}/log.jsonl ||
      judge 1 "the losses in $precision"
    tabulate
  done
}

part_idle() {
  local monitor=
  within 60 "$root/nmn" scenes --number 400 "$work/pictures" --quiet >/dev/null
  judge $? "making pictures" || return
  : >"$work/dmon.txt"
  if command -v nvidia-smi >/dev/null; then
    timeout "${limit[idle]}" nvidia-smi dmon -s u -d 1 >"$work/dmon.txt" &
    monitor=$!
  fi
  within 60 "$root/nmn" train "${idle[@]}" --arm stage1 --epochs 15 --set train.log_steps=1 --quiet --noise 0 \
    --set "data.captions=$work/pictures/captions_train2014.json" --images "$work/pictures/images" --vocab "$work/pictures/vocabulary.txt" \
    --set "run.workers=$(nproc)" --device cuda --precision bf16 --run-dir "$work/idle"
  local code=$?
  [ -z "$monitor" ] || kill "$monitor" 2>/dev/null
  judge "$code" "training at 565 pixels" || return
  "$python" "$root/bench/gpu_table.py" idle "$OUT/figures.jsonl" "$work/idle/log.jsonl" "$work/dmon.txt" || judge 1 "the waits of a run"
}

# NCCL on one card, with one rank, and with two if NCCL allows them. One card cannot show sums between cards.
part_ranks() {
  local ranks test refused
  if [ -n "${REHEARSAL:-}" ]; then export NMN_LIBNCCL=${NMN_LIBNCCL:-${NMN_LIBCUDA:-}}; fi
  cd "$root/cuda/nccl" || return 1
  for ranks in 1 2; do
    test=TestCard_OneRank
    [ "$ranks" = 1 ] || test=TestCard_TwoRanksOnOneCard
    if measured "ranks $ranks" nmn; then continue; fi
    rm -f "$work/ranks.json"
    NMN_REQUIRE=cuda NMN_RANKS_FIGURES=$work/ranks.json within 40 ./nccl.test -test.v -test.run "^$test\$" >"$work/ranks.txt" 2>&1
    judge $? "NCCL with ranks: $ranks" || { cat "$work/ranks.txt"; continue; }
    cat "$work/ranks.txt"
    refused=$(grep -m1 -o 'NCCL refuses .*' "$work/ranks.txt") && absent=$refused
    if [ -s "$work/ranks.json" ]; then keep "ranks $ranks" nmn cat "$work/ranks.json"; fi
  done
}

part_profile() {
  command -v ncu >/dev/null || leave_out "no ncu (Nsight Compute) on the PATH"
  local names code metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum
  metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__throughput.avg.pct_of_peak_sustained_elapsed
  metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active
  names=$(paste -sd'|' "$root/kernels.txt")
  # The settings of the card stay as they are: no clock control.
  within 55 ncu --clock-control none --csv --page raw --kernel-name "regex:^($names)\$" --launch-count 60 \
    --metrics "$metrics" \
    "$root/nmn" bench ops "${profiled[@]}" --device cuda --precision bf16 --warmup 0 --repeats 1 --json >"$work/ncu.csv"
  code=$?
  local refused
  refused=$(grep -m1 -E 'ERR_NVGPUCTRPERM|LibraryNotLoaded' "$work/ncu.csv") && leave_out "no hardware counters here: $refused"
  [ "$code" = 0 ] || tail -n 5 "$work/ncu.csv"
  judge "$code" "ncu" || return
  deliver ncu.csv
  "$python" "$root/bench/gpu_table.py" ncu "$OUT/figures.jsonl" "$OUT/ncu.csv" || judge 1 "the profile's figures"
}

# nmn's kernels under each tool, all tools at once, without cuDNN's operations and without the sizes of the real
# network. Convolutions that also use nmn's kernels run separately.
part_sanitizer() {
  command -v compute-sanitizer >/dev/null || leave_out "no compute-sanitizer on the PATH"
  local tool recurrent='^(LSTM|LSTMGrad|CrossEntropy)$'
  cd "$root/kernels" || return 1
  for tool in memcheck racecheck initcheck synccheck; do
    parallel sanitize "$tool" "$tool" -test.run '^TestCUDA_Conforms$/^(bf16|fp32)$' -test.skip "^TestCUDA_Conforms\$/./$convolutions"
    parallel sanitize "$tool, recurrent" "$tool" -test.run "^TestCUDA_Conforms\$/^fp32\$/$recurrent"
  done
  together
  tabulate
}
sanitize() { # NAME TOOL FLAGS...
  local name=$1 tool=$2 code began
  shift 2
  if measured "sanitizer $name" nmn; then return 0; fi
  echo "== $name"
  began=$(clock)
  NMN_REQUIRE=cuda within 600 compute-sanitizer --tool "$tool" --error-exitcode 9 ./kernels.test -test.short -test.v "$@" \
    >"$work/sanitizer $name.txt" 2>&1
  code=$?
  cat "$work/sanitizer $name.txt"
  "$python" "$root/bench/gpu_table.py" sanitizer "$OUT/figures.jsonl" "$name" "$code" "$(since "$began")" <"$work/sanitizer $name.txt"
  judge "$code" "$name"
}

# The sizes of the real network. Their float64 reference takes long to compute.
part_large() {
  [ -z "${REHEARSAL:-}" ] || leave_out "too large for a rehearsal"
  local precision
  for precision in $(precisions); do
    suite "large $precision" kernels 150 -test.run "^TestCUDA_Conforms\$/^$precision\$"
  done
  tell_suites
}

one_part() {
  printf '\n==== %s\n' "$1"
  need_card
  "part_$1" || [ "$failed$cut" != 00 ] || failed=1
  [ "$failed" = 0 ] || exit 1
  [ "$cut" = 0 ] || exit "$unfinished"
  [ -z "$absent" ] || leave_out "$absent"
  exit 0
}
