// The zero labels of a batch with the largest losses, softplus(o), that is with the largest logits o. Of
// equal ones the first are taken, NaN never.
//
// Mapping: one block, because bags have few logits. Thread i takes labels i, i + blockDim.x, ... to count,
// and a run of neighbouring ones, the i-th of blockDim.x, to choose among equal ones. Logits become integers
// of the same order, and the count-th largest is found in four passes of eight bits, by counts in shared
// memory. The order of their addition does not matter: they are integers.
namespace large {

const int threads = 1024;

// Above 0 and in the order of the logits. It is 0 for labels that are never taken.
static __device__ __forceinline__ unsigned key(float o, float z) {
  if (z != 0 || o != o) return 0;
  if (o == 0) return 0x80000000u;
  const unsigned bits = __float_as_uint(o);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

struct Scratch {
  int bins[256];
  int warps[threads / 32];
  unsigned limit;
  int left;  // how many of the keys that begin as limit does are taken
};

// limit finds the count-th largest key, and how many equal keys are among the first count. Both are 0 if
// fewer keys are above 0. All threads of the block call.
static __device__ __forceinline__ void limit(const float *o, const float *z, int labels, int count, Scratch &shared) {
  if (threadIdx.x == 0) shared.limit = 0, shared.left = count;
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) shared.bins[bin] = 0;
    __syncthreads();
    const unsigned limit = shared.limit, known = shift == 24 ? 0 : 0xffffffffu << (shift + 8);
    for (int i = threadIdx.x; i < labels; i += blockDim.x) {
      const unsigned k = key(o[i], z[i]);
      if (k != 0 && (k & known) == limit) atomicAdd(shared.bins + (k >> shift & 255), 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int bin = 255, left = shared.left;
      for (; bin >= 0 && shared.bins[bin] < left; bin--) left -= shared.bins[bin];
      shared.limit = bin < 0 ? 0 : limit | (unsigned)bin << shift;
      shared.left = bin < 0 ? 0 : left;
    }
    __syncthreads();
    if (shared.left == 0) return;
  }
}

// before adds a number over the threads before this one. All threads of the block call.
static __device__ __forceinline__ int before(int own, Scratch &shared) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int sum = own;
  for (int step = 1; step < 32; step <<= 1) {
    const int other = __shfl_sync(0xffffffffu, sum, lane - step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) shared.warps[warp] = sum;
  __syncthreads();
  for (int i = 0; i < warp; i++) sum += shared.warps[i];
  return sum - own;
}

}  // namespace large

// targets may be z. A count below 1 takes none.
extern "C" __global__ void __launch_bounds__(large::threads)
large_losses(float *targets, const float *o, const float *z, const int *count, int labels, float instead) {
  __shared__ large::Scratch shared;
  unsigned limit = 0xffffffffu;  // above all keys
  int left = 0;
  if (*count > 0) {
    large::limit(o, z, labels, *count, shared);
    limit = shared.limit, left = shared.left;
  }
  const int each = (labels + blockDim.x - 1) / blockDim.x;
  const int begin = (int)min((long long)threadIdx.x * each, (long long)labels);
  const int end = labels - begin < each ? labels : begin + each;
  int equal = 0;
  if (left > 0) {
    for (int i = begin; i < end; i++) equal += large::key(o[i], z[i]) == limit;
    left -= large::before(equal, shared);
  }
  for (int i = begin; i < end; i++) {
    const unsigned k = large::key(o[i], z[i]);
    const bool taken = k > limit || (k == limit && left-- > 0);
    targets[i] = taken ? instead : z[i];
  }
}
