#!/bin/bash
# A training on the four cards of one node: one rank a card. docs/cluster.md tells how it goes on.
#
#   sbatch examples/slurm/one-node.sh --arm nmn-fd --data-preset coco ...   # flags of nmn train
#
#SBATCH --job-name=nmn
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@180
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail
runs=${RUNS:-$PWD/runs/$SLURM_JOB_ID}

# SIGTERM comes three minutes before the end of the job's time, to every rank: all save at the same step and end. The same
# job, queued again, goes on from there.
# Every rank sees the four cards and takes the one of its local rank.
srun --mpi=pmix --kill-on-bad-exit=1 --cpu-bind=cores \
  nmn train --continue --device cuda --threads "${SLURM_CPUS_PER_TASK:-8}" --run-dir "$runs" "$@"
