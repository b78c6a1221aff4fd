#!/bin/bash
# An experiment whose runs are the tasks of a job array, each on a card of its own, and a job behind them that makes tables
# and page. To be run, not queued:
#
#   examples/slurm/array.sh runs/experiment --seeds 1,2,3 ...   # the folder, on a file system that all nodes see; then flags
#                                                               # of nmn experiment
#   MOST=8 examples/slurm/array.sh ...                          # no more than 8 tasks at once
#
# A task that was interrupted is queued again with --requeue and goes on; one that is complete does nothing.
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
folder=$1
shift
mkdir -p "$folder"

tasks=$(nmn experiment --tasks --count --run-dir "$folder" "$@")
[ "$tasks" -gt 0 ] || { echo "array.sh: there are no tasks" >&2; exit 1; }

# words COMMAND... quotes a command for --wrap, which is a script.
words() { printf '%q ' "$@"; }

array=$(sbatch --parsable --job-name=nmn-array --array="0-$((tasks - 1))%${MOST:-16}" \
  --ntasks=1 --gpus=1 --cpus-per-task=8 --time=24:00:00 --signal=TERM@180 --requeue --output="$folder/task-%a.log" \
  --open-mode=append --wrap "exec srun $(words nmn experiment --task auto --device cuda --run-dir "$folder" "$@")")
sbatch --parsable --job-name=nmn-collect --dependency="afterok:${array%%;*}" --ntasks=1 --cpus-per-task=4 --time=1:00:00 \
  --output="$folder/collect.log" --wrap "exec $(words nmn experiment --collect --run-dir "$folder" "$@")"
