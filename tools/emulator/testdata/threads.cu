// Kernels that are right, and kernels with one planted mistake each. Blocks are 64 threads.
#include "../../../kernels/mma.cuh"

// Turns 64 numbers around through shared memory.
extern "C" __global__ void __launch_bounds__(64) turn(float *x) {
  __shared__ float held[64];
  held[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = held[63 - threadIdx.x];
}

// The same without its barrier.
extern "C" __global__ void __launch_bounds__(64) turn_race(float *x) {
  __shared__ float held[64];
  held[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = held[63 - threadIdx.x];
}

// Sums within each warp.
extern "C" __global__ void __launch_bounds__(64) warp_sum(float *x) {
  float sum = x[threadIdx.x];
  for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  x[threadIdx.x] = sum;
}

// A product on tensor cores less the same by loops. The places of elements are written as the manual of PTX has them.
static float left(int row, int k) { return (float)((row * 7 + k * 5 + (int)threadIdx.x / 32) % 11 - 5); }
static float right(int k, int column) { return (float)((k * 3 + column * 4) % 13 - 6); }

extern "C" __global__ void __launch_bounds__(64) product(float *x) {
  const int group = threadIdx.x % 32 / 4, inGroup = threadIdx.x % 4;
  unsigned a[4], b[2];
  float sums[4], off = 0;
  for (int i = 0; i < 8; i += 2) {
    const int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8, k = inGroup * 2 + (i >= 4 ? 8 : 0);
    a[i / 2] = mma::pair(left(row, k), left(row, k + 1), false);
  }
  for (int i = 0; i < 4; i += 2) {
    const int k = inGroup * 2 + (i >= 2 ? 8 : 0);
    b[i / 2] = mma::pair(right(k, group), right(k + 1, group), false);
  }
  for (int i = 0; i < 4; i++) sums[i] = (float)(threadIdx.x + 100 * i);
  mma::multiply(sums, a, b);
  for (int i = 0; i < 4; i++) {
    const int row = i < 2 ? group : group + 8, column = inGroup * 2 + (i & 1);
    float sum = (float)(threadIdx.x + 100 * i);
    for (int k = 0; k < 16; k++) sum += left(row, k) * right(k, column);
    off = larger(off, fabsf(sums[i] - sum));
  }
  x[threadIdx.x] = off;
}

// Counts blocks up: right in any order.
extern "C" __global__ void __launch_bounds__(64) count_blocks(unsigned *x) {
  if (threadIdx.x == 0) atomicAdd(x, 1u);
}

// Every block overwrites what the others wrote.
extern "C" __global__ void __launch_bounds__(64) block_race(float *x) { x[threadIdx.x] = (float)blockIdx.x; }

// Whether any thread holds a negative number.
extern "C" __global__ void __launch_bounds__(64) any_negative(float *x) {
  const int any = __syncthreads_or(x[threadIdx.x] < 0);
  const int none = __syncthreads_or(0);
  x[threadIdx.x] = (float)(any + 10 * none);
}

// Reads shared memory that has not been written.
extern "C" __global__ void __launch_bounds__(64) unwritten(float *x) {
  __shared__ float held[64];
  x[threadIdx.x] = held[threadIdx.x];
}

// Half of the block waits at another barrier.
extern "C" __global__ void __launch_bounds__(64) two_barriers(float *x) {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  x[threadIdx.x] = 0;
}

// A lane leaves its warp before the shuffle.
extern "C" __global__ void __launch_bounds__(64) lost_lane(float *x) {
  if (threadIdx.x == 5) return;
  x[threadIdx.x] = __shfl_sync(0xffffffffu, x[threadIdx.x], 0);
}
