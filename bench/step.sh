#!/usr/bin/env bash
# nmn and PyTorch by turns on the CPU: training steps, features of pictures and matrix products.
#
#   bench/step.sh [-r ROUNDS] [-o FIGURES] [CASE...]
#
# Cases: 4x224 and 1x565 (VGG16, pictures × pixels), 32x48 (the scenes net), resnet50-8x224, gemm, and the
# features of vit-s14-16x224 and vit-b16-8x224. A case that ends in -avx2 runs without AVX-512. The default is
# 4x224 1x565 32x48 resnet50-8x224 gemm, and on x86-64 also 4x224-avx2 gemm-avx2. Steps have MIL and the
# feature-dependent noise model. PyTorch runs in both layouts, ResNets with folded and with frozen batch norm,
# transformers as they are and compiled, and VGG16 at 224 pixels also with linear layers at its end. The best form
# counts. A separate row compares with PyTorch in bfloat16, which is measured for VGG16 with linear layers.
#
# PYTHON names a Python with torch, and timm for transformers. FIGURES, by default build/bench/figures.jsonl,
# gets a JSON line for each measurement. The table of ratios is printed at the end. The machine must be idle:
# PyTorch's threads wait for each other, and lose far more to other load than nmn does.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=3 figures=build/bench/figures.jsonl python=${PYTHON:-python3}
usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' bench/step.sh; } # macOS needs the semicolon
while getopts r:o:h flag; do
  case $flag in
    r) rounds=$OPTARG ;;
    o) figures=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if [ $# = 0 ]; then
  set -- 4x224 1x565 32x48 resnet50-8x224 gemm
  [ "$(uname -m)" != x86_64 ] || set -- "$@" 4x224-avx2 gemm-avx2
fi
for name in "$@"; do
  case ${name%-avx2} in 4x224 | 1x565 | 32x48 | resnet50-8x224 | vit-s14-16x224 | vit-b16-8x224 | gemm) ;; *) echo "step.sh: there is no case $name" >&2; exit 2 ;; esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "step.sh: -r is $rounds, want a number from 1" >&2; exit 2; }
"$python" -c 'import torch' || { echo "step.sh: $python has no torch; PYTHON names another" >&2; exit 1; }

CGO_ENABLED=0 go build -o build/nmn-bench ./cmd/nmn
mkdir -p "$(dirname "$figures")"
: >"$figures"

# on CASE COMMAND... runs a command with the instruction set of the case.
on() {
  local name=$1
  shift
  case $name in
    *-avx2) NMN_SIMD=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2 ATEN_CPU_CAPABILITY=avx2 "$@" ;;
    *) "$@" ;;
  esac
}

# arguments CASE prints the arguments for both programs.
arguments() {
  case ${1%-avx2} in
    4x224) echo --model vgg16 --batch 4 --size 224 --warmup 1 --repeats 3 ;;
    1x565) echo --model vgg16 --batch 1 --size 565 --warmup 1 --repeats 3 ;;
    32x48) echo --model scenes --batch 32 --warmup 5 --repeats 30 ;;
    resnet50-8x224) echo --model resnet50 --batch 8 --size 224 --warmup 1 --repeats 5 ;;
    vit-s14-16x224) echo --batch 16 --size 224 --warmup 1 ;;
    vit-b16-8x224) echo --batch 8 --size 224 --warmup 1 ;;
    gemm) echo --sizes 1024,2048 --warmup 2 --repeats 10 ;;
  esac
}

# keep CASE WHO stores the figures of a measurement.
keep() { "$python" bench/table.py add "$figures" "$1" "$2" "$round"; }

# ours CASE and theirs CASE measure a case once.
ours() {
  local what=step
  case ${1%-avx2} in
    gemm) what="machine --mib 0" ;;
    vit-*) what="step --repeats 5 --model ${1:0:7}" ;;
  esac
  # shellcheck disable=SC2046,SC2086 # arguments are words
  on "$1" build/nmn-bench bench $what $(arguments "$1") --device cpu --json | keep "$1" nmn
}
theirs() {
  local layout form net norms=folded
  # shellcheck disable=SC2046
  case ${1%-avx2} in
    gemm)
      on "$1" "$python" bench/torch_machine.py gemm $(arguments "$1") | keep "$1" torch.mm
      return ;;
    vit-*)
      net=vit_small_patch14_dinov2
      [ "${1:0:7}" = vit-s14 ] || net=vit_base_patch16_224
      for form in eager compile; do
        on "$1" "$python" bench/vit_torch.py --net $net $(arguments "$1") --rounds 5 --json $form | keep "$1" $form
      done
      return ;;
    resnet*) norms="folded frozen" ;;
  esac
  # At 224 pixels a PyTorch user writes VGG16's last layers as linear ones.
  if [ "${1%-avx2}" = 4x224 ]; then
    for form in "" -bf16; do
      # shellcheck disable=SC2046
      on "$1" "$python" bench/torch_step.py $(arguments "$1") --layout nhwc --linear ${form:+--precision bf16} |
        keep "$1" "nhwc-linear$form"
    done
  fi
  for layout in nchw nhwc; do
    for form in $norms; do
      # shellcheck disable=SC2046
      on "$1" "$python" bench/torch_step.py $(arguments "$1") --layout $layout --norms "$form" |
        keep "$1" "$layout$([ "$norms" = folded ] || echo "-$form")"
    done
  done
}

for ((round = 1; round <= rounds; round++)); do
  for name in "$@"; do # the order changes, so that a slow drift of the machine favours neither
    turns=(ours theirs)
    ((round % 2)) || turns=(theirs ours)
    for turn in "${turns[@]}"; do $turn "$name"; done
  done
done
"$python" bench/table.py ratios "$figures"
