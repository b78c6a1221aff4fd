#!/bin/bash
# Trains on the cards of several nodes, here eight nodes of eight cards, with one rank for each card. Run
# folder, data and weights must have the same path on every node, on a shared file system.
#
#   sbatch examples/slurm/many-nodes.sh --arm nmn-fd ...            # flags of nmn train
#   sbatch --nodes=2 examples/slurm/many-nodes.sh --arm nmn-fd ...  # continues with another number of ranks
#
#SBATCH --job-name=nmn
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=8
#SBATCH --exclusive
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail
runs=${RUNS:-$PWD/runs/$SLURM_JOB_ID}

# NCCL logs once which network it uses. On a cluster with InfiniBand, a line with NET/Socket is a mistake to
# fix first.
export NCCL_DEBUG=${NCCL_DEBUG:-WARN}

# As in one-node.sh: five minutes before the end of the job's time all ranks save and end, and the job is queued
# again.
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
