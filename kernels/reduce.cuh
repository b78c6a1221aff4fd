// Sums whose order depends on shapes alone, never on which thread or block comes first.
#pragma once

// warpSum adds over the 32 lanes of a warp as a tree; every lane gets the sum.
static __device__ __forceinline__ double warpSum(double v) {
  for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}

// blockSum adds over the threads of a one-dimensional block of whole warps: within warps as a tree,
// then over the warps as a tree. scratch is 32 doubles of shared memory. Thread 0 gets the sum.
static __device__ __forceinline__ double blockSum(double v, double *scratch) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warpSum(v);
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  if (warp == 0) v = warpSum(lane < (int)blockDim.x >> 5 ? scratch[lane] : 0);
  return v;
}

// lastBlock tells whether a block is the last one of a group to come here: it then sees what all
// others wrote before. Counting is the only use of an atomic; what the last block adds up, it reads in
// a fixed order. ticket is 0 before the launch and after it; last is shared memory.
static __device__ __forceinline__ bool lastBlock(unsigned *ticket, unsigned blocks, bool *last) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    *last = atomicAdd(ticket, 1u) == blocks - 1;
    if (*last) *ticket = 0;
  }
  __syncthreads();
  __threadfence();
  return *last;
}
