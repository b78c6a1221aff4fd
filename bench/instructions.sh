#!/usr/bin/env bash
# Counts the instructions of a measurement of nmn bench at the levels avx2 (amd64), neon and generic (arm64).
#
#   bench/instructions.sh step --model scenes
#   bench/instructions.sh load --images 100 --workers 1 PICTURES
#
# It builds nmn for both processors and a plugin for QEMU's emulators, and prints how many million instructions one
# repeat more takes. A repeat takes a second to minutes. Needs Go, a C compiler, qemu-x86_64 and qemu-aarch64 from
# version 7.2 on (Debian's qemu-user).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' bench/instructions.sh >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for processor in amd64 arm64; do CGO_ENABLED=0 GOARCH=$processor go build -o "$work/nmn-$processor" ./cmd/nmn; done

# The declarations are from qemu-plugin.h, which Debian does not package.
cat >"$work/count.c" <<'C'
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int, void *, uint64_t);
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

int qemu_plugin_version = 1;
static uint64_t count;

static void translated(uint64_t id, struct qemu_plugin_tb *block) {
    qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &count, qemu_plugin_tb_n_insns(block));
}

static void ended(uint64_t id, void *unused) { fprintf(stderr, "instructions %" PRIu64 "\n", count); }

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
C
cc -O2 -shared -fPIC -o "$work/count.so" "$work/count.c"

# count EMULATOR PROCESSOR LEVEL REPEATS ARGUMENTS... prints the instructions of the whole program.
count() {
  local emulator=$1 program=$work/nmn-$2 level=$3 repeats=$4
  shift 4
  NMN_SIMD=$level GOMAXPROCS=1 "$emulator" -plugin "$work/count.so" "$program" bench "$@" --warmup 0 \
    --repeats "$repeats" 2>&1 >/dev/null | awk '$1 == "instructions" { print $2 }'
}

for level in "qemu-x86_64 amd64 avx2" "qemu-aarch64 arm64 neon" "qemu-aarch64 arm64 generic"; do
  # shellcheck disable=SC2086 # a level is three words
  once=$(count $level 1 "$@") twice=$(count $level 2 "$@")
  echo "${level#* }: $(((twice - once) / 1000000)) million instructions"
done
