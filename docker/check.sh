#!/usr/bin/env bash
# Builds the images and starts their programs in roots of their own, without network and as the user
# of the image: what a container does, without an engine that runs one. Needs root (chroot, unshare)
# and a builder of images:
#
#   sudo docker/check.sh                               with docker
#   sudo BUILDER="buildah build --layers" docker/check.sh cuda
set -euo pipefail
cd "$(dirname "$0")/.."
builder=${BUILDER:-docker build}
revision=$(git describe --always --abbrev=40 --dirty --exclude '*')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

# inside ROOT COMMAND... runs as the user of the images, with nothing of this host's environment.
inside() {
  local root=$1
  shift
  unshare --net env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot --userspec=65532:65532 "$root" "$@"
}

# said CODE WORDS COMMAND... runs a command, which must end with the code and write the words.
said() {
  local code=$1 words=$2 got=0
  shift 2
  "$@" >"$folder/said" 2>&1 || got=$?
  sed 's/^/  | /' "$folder/said"
  [ "$got" = "$code" ] || fail "exit code $got, want $code: $*"
  grep -q -- "$words" "$folder/said" || fail "nothing says '$words': $*"
}

# image TARGET builds an image and unpacks its files.
image() {
  echo "== $1: build"
  $builder --target "$1" --build-arg REVISION="$revision" --output "type=tar,dest=$folder/$1.tar" . >"$folder/build.log" 2>&1 ||
    { tail -20 "$folder/build.log"; fail "$1 cannot be built"; }
  mkdir "$folder/$1"
  tar --extract --numeric-owner --file "$folder/$1.tar" --directory "$folder/$1"
  rm "$folder/$1.tar"
}

quick=(--size quick --train-size 640 --validation-size 64 --test-size 128 --epochs 1)

cpu() {
  image cpu
  root=$folder/cpu
  echo "== cpu: one static file, the licences and a folder for runs"
  files=$(cd "$root" && find . -type f -not -path './licenses/*')
  [ "$files" = ./nmn ] || fail "the image holds $files"
  [ -s "$root/licenses/nmn/LICENSE" ] || fail "the image lacks its licence"
  ! ldd "$root/nmn" >/dev/null 2>&1 || fail "nmn is linked with $(ldd "$root/nmn")"
  said 0 "revision $revision" inside "$root" /nmn version
  echo "== cpu: an experiment, in an empty root and without network"
  said 0 NMN-FD inside "$root" /nmn experiment --preset scenes "${quick[@]}" --run-dir runs/scenes
  [ "$(stat -c %u "$root/runs/scenes/table.md")" = 65532 ] || fail "the runs do not belong to the user of the image"
  said 1 "permission denied" inside "$root" /nmn scenes /scenes
  said 1 "make cuda" inside "$root" /nmn train --device cuda
}

cuda() {
  image cuda
  root=$folder/cuda
  program=$root/usr/local/bin/nmn
  echo "== cuda: the program names nothing but the C library"
  ldd "$program" | sed 's/^/  | /'
  others=$(ldd "$program" | grep -vE '^\s*(linux-vdso|libc|libm|libdl|libpthread|/lib64/ld-linux)' || true)
  [ -z "$others" ] || fail "it also needs $others"
  said 0 "revision $revision" inside "$root" nmn version
  echo "== cuda: the image without a card"
  without_card "$root"
  echo "== cuda: a root with the program and the C library alone"
  bare=$folder/bare
  mkdir -p "$bare/usr/local/bin" "$bare/runs"
  chown 65532:65532 "$bare/runs"
  cp "$program" "$bare/usr/local/bin"
  chroot "$root" ldd /usr/local/bin/nmn | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$bare$(dirname "$library")" && cp -L "$root$library" "$bare$library"
  done
  without_card "$bare"
}

# without_card ROOT: auto computes on the CPU and says why, cuda tells what is missing.
without_card() {
  said 0 "computing on the CPU: cuda: cannot open libcuda" inside "$1" nmn train --device auto --arm stage1 "${quick[@]}" --run-dir runs/auto
  said 1 "cannot open libcuda.*driver" inside "$1" nmn train --device cuda --run-dir runs/cuda
  [ ! -e "$1/runs/cuda" ] || fail "a run that could not begin left a folder"
}

[ $# -gt 0 ] || set -- cpu cuda
for target; do
  case $target in
  cpu | cuda) "$target" ;;
  *) fail "there is no image $target: want cpu or cuda" ;;
  esac
done
echo "all is well"
