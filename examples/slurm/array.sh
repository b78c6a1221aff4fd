#!/bin/bash
# Runs an experiment as job arrays, each run on its own card: first stage 1, then the runs that continue from
# it, and a job for tables and page. Run this script directly, without sbatch:
#
#   examples/slurm/array.sh runs/experiment --size full --seeds 1,2,3   # a folder that all nodes see; then flags of
#                                                                       # nmn experiment
#   MOST=8 examples/slurm/array.sh ...                                  # no more than 8 tasks at once
#
# An interrupted task is queued again and continues. The same command queues the tasks that are not complete.
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
folder=$1
shift
mkdir -p "$folder"

# words COMMAND... quotes a command for the script of --wrap. TASK stands for the number of the task.
words() { printf '%q ' "$@" | sed 's/ TASK / "$SLURM_ARRAY_TASK_ID" /'; }

# task COMMAND... prints a script that runs a command as a step of the job. SLURM sends the script SIGUSR1, and
# the script passes it on. A step that had not finished by then is queued again, as in one-node.sh.
task() {
  cat <<'END'
warned='' step=''
trap 'warned=yes; [ -z "$step" ] || kill -USR1 "$step" || true' USR1
END
  echo "srun --cpus-per-task=\"\${SLURM_CPUS_PER_TASK:-8}\" $(words "$@") & step=\$! code=0"
  cat <<'END'
[ -z "$warned" ] || kill -USR1 "$step" || true
wait "$step" || code=$?
[ "$code" != 138 ] || { code=0; wait "$step" || code=$?; }
[ -z "$warned" ] || [ "$code" = 0 ] || scontrol requeue "$SLURM_JOB_ID"
exit "$code"
END
}

# queue NAME TASKS [DEPENDENCY] queues tasks, given as 0,6,12, and prints the number of the array.
queue() {
  local flags=()
  [ -z "${3:-}" ] || flags=(--dependency="afterok:$3")
  sbatch --parsable --job-name="$1" --array="$2%${MOST:-16}" "${flags[@]}" --ntasks=1 --gpus=1 --cpus-per-task=8 \
    --time=24:00:00 --signal=B:USR1@180 --requeue --open-mode=append --output="$folder/task-%a.log" \
    --wrap "$(task nmn experiment --task TASK --device cuda --run-dir "$folder" "${experiment[@]}")" | cut -d ';' -f 1
}

experiment=("$@")
tasks=$(nmn experiment --tasks --format csv --run-dir "$folder" "${experiment[@]}")
first='' rest=''
while IFS=, read -r task arm noise mil seed after complete _; do
  [[ $task =~ ^[0-9]+$ && $complete = no ]] || continue
  if [ -z "$after" ]; then first+=,$task; else rest+=,$task; fi
  echo "task $task: $arm, noise $noise, MIL $mil, seed $seed"
done <<<"$tasks"

jobs='' collect=()
[ -z "$first" ] || jobs=$(queue nmn-stage1 "${first#,}")
[ -z "$rest" ] || jobs+=${jobs:+:}$(queue nmn-arms "${rest#,}" "$jobs")
[ -z "$jobs" ] || collect=(--dependency="afterok:$jobs")
sbatch --parsable --job-name=nmn-collect "${collect[@]}" --ntasks=1 --cpus-per-task=4 --time=1:00:00 \
  --output="$folder/collect.log" --wrap "exec $(words nmn experiment --collect --run-dir "$folder" "${experiment[@]}")"
