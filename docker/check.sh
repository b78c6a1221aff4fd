#!/usr/bin/env bash
# Builds the images and starts their programs as a container would, without a container engine: in separate root
# folders, without network and as the user of the image. Needs root (chroot, unshare) and a builder of images:
#
#   sudo docker/check.sh                               with docker
#   sudo BUILDER="buildah build --layers" docker/check.sh cuda
set -euo pipefail
cd "$(dirname "$0")/.."
builder=${BUILDER:-docker build}
revision=$(git describe --always --abbrev=40 --dirty --exclude '*')
folder=$(mktemp -d)
trap 'rm -rf --one-file-system "$folder"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

# inside ROOT COMMAND... runs a command as the user of the images, with an empty environment.
inside() {
  local root=$1
  shift
  unshare --net env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot --userspec=65532:65532 "$root" "$@"
}

# said CODE WORDS COMMAND... runs a command, which must end with the code and print the words.
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

quick=(--size quick --set data.train_size=640 --set data.validation_size=64 --set data.test_size=128 --epochs 1)

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

# without_card ROOT: auto computes on the CPU and prints the reason, cuda names the missing part.
without_card() {
  said 0 "computing on the CPU: cuda: cannot open libcuda" inside "$1" nmn train --device auto --arm stage1 "${quick[@]}" --run-dir runs/auto
  said 1 "cannot open libcuda.*driver" inside "$1" nmn train --device cuda --run-dir runs/cuda
  [ ! -e "$1/runs/cuda" ] || fail "a run that could not begin left a folder"
}

mpi() {
  image mpi
  root=$folder/mpi
  echo "== mpi: Open MPI is linked, and nothing has a host key of its own"
  chroot "$root" ldd /usr/local/bin/nmn | grep -q libmpi || fail "nmn is not linked with Open MPI"
  ! compgen -G "$root/etc/ssh/ssh_host_*" >/dev/null || fail "the image has host keys"
  said 0 "revision $revision" inside "$root" nmn version
  echo "== mpi: ranks through the ssh server, with the keys of a job"
  ranks "$root"
}

# ranks ROOT: the ssh server runs as the user of the image, mpirun starts ranks through it, and a host without
# the job's key is refused. Network, mounts and processes are separate namespaces that end with the test, so
# nothing of this host is mounted in folders that are removed.
ranks() {
  local root=$1
  job "$root"
  # shellcheck disable=SC2016 # expanded inside
  unshare --net --mount --pid --fork --kill-child env --ignore-environment PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ROOT="$root" STEPS="${quick[*]}" bash -c '
    set -eu
    ip link set lo up
    mount -t tmpfs none "$ROOT/dev"
    mkdir -m 1777 "$ROOT/dev/shm"
    for node in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "$ROOT/dev/${node%:*}" c 1 "${node#*:}"; done
    mount -t proc proc "$ROOT/proc"
    user() { chroot --userspec=65532:65532 "$ROOT" "$@"; }
    user /usr/sbin/sshd -De -f /etc/ssh/nmn/sshd_config &
    for try in $(seq 50); do user ssh 127.0.0.1 true && break; sleep .1; done
    echo "a session: $(user ssh 127.0.0.1 env | tr "\n" " ")"
    # mpirun treats two names of one host as two hosts, and starts the second through the ssh server.
    ranks() { user env HOME=/home/nmn timeout 300 mpirun --host 127.0.0.1:1,127.0.0.2:1 -n 2 --bind-to none \
      --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo "$@"; }
    ranks sh -c "echo rank \$OMPI_COMM_WORLD_RANK of \$OMPI_COMM_WORLD_SIZE"
    # shellcheck disable=SC2086
    ranks nmn train --arm stage1 $STEPS --device cpu --threads 1 --run-dir /runs/ranks
    cp "$ROOT/home/nmn/.ssh/other.pub" "$ROOT/home/nmn/.ssh/id_rsa.pub"
    ! user ssh 127.0.0.1 true || { echo "a host with another key was trusted"; exit 1; }
    echo "a host with another key was refused"
  ' >"$folder/said" 2>&1 || { sed 's/^/  | /' "$folder/said"; fail "no ranks by ssh"; }
  sed 's/^/  | /' "$folder/said"
  grep -q 'a session: .*CUDA_CACHE_PATH=/cache/driver' "$folder/said" || fail "a session lacks its environment"
  grep -q 'rank 1 of 2' "$folder/said" || fail "there were no two ranks"
  [ "$(stat -c %u "$root/runs/ranks/result.json")" = 65532 ] || fail "two ranks left no result"
}

# job ROOT writes the keys of a job to the mount point of the operator's Secret. They belong to root and all can
# read them.
job() {
  local keys=$1/home/nmn/.ssh
  mkdir -p "$keys"
  ssh-keygen -q -t rsa -b 3072 -N '' -C '' -f "$keys/id_rsa"
  ssh-keygen -q -t rsa -b 3072 -N '' -C '' -f "$keys/other"
  cp "$keys/id_rsa.pub" "$keys/authorized_keys"
  chmod 644 "$keys"/*
}

[ $# -gt 0 ] || set -- cpu cuda mpi
for target; do
  case $target in
  cpu | cuda | mpi) "$target" ;;
  *) fail "there is no image $target: want cpu, cuda or mpi" ;;
  esac
done
echo "all is well"
