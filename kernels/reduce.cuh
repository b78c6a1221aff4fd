// Sums whose order depends on shapes alone, never on which thread or block comes first.
#pragma once

// warpSum adds over the 32 lanes of a warp as a tree. Every lane gets the sum.
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

// lastBlock returns whether a block is the last one of a group to come here. It then sees all writes of the
// others. Counting is the only use of an atomic. The last block reads its terms in a fixed order. ticket is 0
// before the launch and after it. last is shared memory.
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

// Sums over the rows of a matrix with many rows, one for each column. A kernel's blocks see tiles of 32
// neighbouring columns: block (tile, part) has 256 threads, blockDim.x lanes of V columns each and blockDim.y
// strips of rows. Order: a thread adds its rows in ascending order, foldAfter of them in float. Then the
// strips are added in ascending order. Then the last block of the tile adds eight runs of neighbouring parts,
// each in ascending order, and these runs in ascending order.
namespace columns {

const int tile = 32;
const int runs = 8;
const int foldAfter = 32;  // rows that a thread adds in float before they join a double

struct Scratch {
  double sums[tile * 64];  // of 64 strips at most
  bool last;
};

// own is the thread's V sums in shared memory. A kernel that is short of registers adds to them there.
template <int V>
static __device__ __forceinline__ double *own(Scratch &shared) {
  return shared.sums + threadIdx.y * tile + threadIdx.x * V;
}

// join writes the sums of the block's tile to out, or adds them to it. own() has the sums of each thread.
// partial has gridDim.y * count doubles, tickets one counter for each tile. All threads of the block call.
static __device__ __forceinline__ void join(float *out, double *partial, unsigned *tickets, int count,
                                            bool accumulate, Scratch &shared) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, column = thread % tile, run = thread / tile;
  const int at = blockIdx.x * tile + column;
  __syncthreads();
  if (run == 0 && at < count) {
    double sum = 0;
    for (int strip = 0; strip < (int)blockDim.y; strip++) sum += shared.sums[strip * tile + column];
    partial[(long long)blockIdx.y * count + at] = sum;
  }
  if (!lastBlock(tickets + blockIdx.x, gridDim.y, &shared.last)) return;
  const int length = (gridDim.y + runs - 1) / runs, end = min((run + 1) * length, (int)gridDim.y);
  double sum = 0;
  if (at < count) {
#pragma unroll 8
    for (int part = run * length; part < end; part++) sum += partial[(long long)part * count + at];
  }
  shared.sums[run * tile + column] = sum;
  __syncthreads();
  if (run == 0 && at < count) {
    sum = accumulate ? (double)out[at] : 0;
    for (int i = 0; i < runs; i++) sum += shared.sums[i * tile + column];
    out[at] = (float)sum;
  }
}

// add is join for sums that are in registers: total is the thread's own.
template <int V>
static __device__ __forceinline__ void add(float *out, const double *total, double *partial, unsigned *tickets,
                                           int count, bool accumulate, Scratch &shared) {
#pragma unroll
  for (int k = 0; k < V; k++) own<V>(shared)[k] = total[k];
  join(out, partial, tickets, count, accumulate, shared);
}

}  // namespace columns
