#!/bin/bash
# Trains on the four cards of one node, one rank a card. docs/guide/cluster.md describes how the run goes on.
#
set -euo pipefail
runs=${RUNS:-$PWD/runs/$SLURM_JOB_ID}

# Three minutes before the job's time ends SLURM sends SIGUSR1 to this script, and srun passes it on to every
# rank. All ranks save at the same step and end. The job is then queued again and continues. A cancelled job is
# not. Every rank sees the four cards and takes the card of its local rank.
warned='' step=''
trap 'warned=yes; [ -z "$step" ] || kill -USR1 "$step" || true' USR1
# Give srun the processors of a rank: since SLURM 22.05 it does not take them from sbatch.
srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-8}" --cpu-bind=cores \
  nmn train --device cuda --threads "${SLURM_CPUS_PER_TASK:-8}" --run-dir "$runs" "$@" &
step=$! code=0
[ -z "$warned" ] || kill -USR1 "$step" || true # the warning came before there was a step
wait "$step" || code=$?
[ "$code" != 138 ] || { code=0; wait "$step" || code=$?; } # 138 is SIGUSR1, which ended the wait and not the step
[ -z "$warned" ] || [ "$code" = 0 ] || scontrol requeue "$SLURM_JOB_ID"
exit "$code"
