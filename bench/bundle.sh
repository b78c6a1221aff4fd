#!/usr/bin/env bash
# Packs everything for a GPU host without Go and without network: bench/bundle.sh [ARCHIVE | --folder]
#
# The archive, by default build/nmn-gpu-bundle.tar.xz, unpacks to nmn-gpu/: nmn with CUDA, the test binaries
# of all packages with tests for a card, each in its folder with its testdata, and bench/. On that host:
#
#   tar xf nmn-gpu-bundle.tar.xz && nmn-gpu/bench/gpu.sh
#
# or, without xz, python3 -m tarfile -e nmn-gpu-bundle.tar.xz. An archive named .tar.gz is packed by gzip in
# seconds and is twice as large. --folder makes only the folder build/bundle/nmn-gpu.
#
# Equal sources and tools give equal archives. Needs everything that make cuda needs.
set -euo pipefail
cd "$(dirname "$0")/.."
archive=${1:-build/nmn-gpu-bundle.tar.xz}
most=$((46 << 20)) # bytes that the archive may have
folder=build/bundle/nmn-gpu
packages="cuda cuda/cudnn cuda/nccl kernels model train"

rm -rf "$folder"
mkdir -p "$folder"
flags=(-tags cuda -trimpath -ldflags "-s -w")
go run ./tools/toolkit exec go build "${flags[@]}" -o "$folder/nmn" ./cmd/nmn
for package in $packages; do
  mkdir -p "$folder/$package"
  go run ./tools/toolkit exec go test -c "${flags[@]}" -o "$folder/$package/$(basename "$package").test" "./$package"
  if [ -d "$package/testdata" ]; then cp -R "$package/testdata" "$folder/$package/"; fi
done
mkdir "$folder/bench"
cp bench/gpu.sh bench/gpu_parts.sh bench/*.py "$folder/bench/"
# The names of nmn's kernels, for profilers.
sed -n 's/.*__global__ void .*/&/p; /__launch_bounds__([^)]*)$/{n;p;}' kernels/*/*.cu |
  grep -o '[a-z0-9_]* *(' | tr -d ' (' | grep -v '^__' | sort -u >"$folder/kernels.txt"
if [ "$(wc -l <"$folder/kernels.txt")" != "$(cat kernels/*/*.cu | grep -c '__global__')" ]; then
  echo "bundle.sh: not every kernel is named in $folder/kernels.txt" >&2
  exit 1
fi
git describe --always --dirty >"$folder/commit" 2>/dev/null || echo unknown >"$folder/commit"
if [ "$archive" = --folder ]; then exit 0; fi

pack=(gzip -9n)
case $archive in
  *.tar.xz) pack=(xz -9 --threads=1) ;;
  *) most=$((2 * most)) ;;
esac # several threads compress blocks apart, and less well
mkdir -p "$(dirname "$archive")"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$(dirname "$folder")" -cf - nmn-gpu | "${pack[@]}" >"$archive"
bytes=$(stat -c %s "$archive")
echo "$archive: $((bytes >> 20)) MiB, unpacked $(du -sm "$folder" | cut -f1) MiB"
if [ "$bytes" -gt "$most" ]; then
  echo "bundle.sh: the archive has $bytes bytes, more than $most" >&2
  exit 1
fi
