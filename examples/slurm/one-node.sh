#!/bin/bash
# Trains on the four cards of one node, with one rank for each card (docs/guide/cluster.md).
#
#   sbatch examples/slurm/one-node.sh captions.json --images train2014 --arm nmn-fd ...   # flags of nmn train
#
#SBATCH --job-name=nmn
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@180
#SBATCH --requeue
#SBATCH --open-mode=append
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
