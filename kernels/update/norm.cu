// The norm of all gradients, and clipping by it. Mapping of the chunks: entry.cuh. The norm moves 4 bytes an
// element. Clipping moves 8 if the norm is above the limit and none otherwise.
//
// Order of the sum of squares, in double: each thread adds its elements in ascending order, and the threads
// of a block as in blockSum. The last block adds the chunks, thread i the chunks i, i + 256, ... in ascending
// order, then as in blockSum.
#include "../reduce.cuh"
#include "entry.cuh"

namespace update {

struct Squares {
  const Entry &e;
  double sum;

  template <int V>
  __device__ __forceinline__ Vec<V> load(int i) const {
    return ::load<V>(e.g + i);
  }
  template <int V>
  __device__ __forceinline__ void use(int, const Vec<V> &g) {
#pragma unroll
    for (int k = 0; k < V; k++) sum += (double)g.v[k] * (double)g.v[k];
  }
};

struct Clip {
  const Entry &e;
  float scale;

  template <int V>
  __device__ __forceinline__ Vec<V> load(int i) const {
    return ::load<V>(e.g + i);
  }
  template <int V>
  __device__ __forceinline__ void use(int i, Vec<V> g) const {
#pragma unroll
    for (int k = 0; k < V; k++) g.v[k] *= scale;
    store<V>(e.g + i, g);
  }
};

}  // namespace update

// partial has chunks doubles. With no chunk at all, one block runs and the norm is 0.
extern "C" __global__ void __launch_bounds__(256)
gradient_norm(float *norm, const Entry *entries, int count, int chunks, double *partial, unsigned *ticket) {
  __shared__ double scratch[32];
  __shared__ bool last;
  if (chunks > 0) {
    const update::Chunk c = update::chunkOf(entries, count);
    update::Squares op = {c.entry, 0};
    update::each<4>(c, op);
    const double sum = blockSum(op.sum, scratch);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  }
  if (!lastBlock(ticket, gridDim.x, &last)) return;
  double sum = 0;
#pragma unroll 8
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) sum += partial[i];
  sum = blockSum(sum, scratch);
  if (threadIdx.x == 0) *norm = (float)sqrt(sum);
}

// Gradients are multiplied by limit/norm where norm > limit; with a norm that is NaN they stay.
extern "C" __global__ void __launch_bounds__(256)
clip(const Entry *entries, int count, const float *norm, float limit) {
  const float n = *norm;
  if (!(n > limit)) return;
  const float scale = limit / n;
  const update::Chunk c = update::chunkOf(entries, count);
  update::Clip op = {c.entry, scale};
  update::each<4>(c, op);
}
