// Kernels that are right, and kernels with one planted mistake each. Blocks are 64 threads.

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

// Reads shared memory that nobody has written.
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
