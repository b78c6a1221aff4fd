// The norm of all gradients, and clipping by it. Mapping of the chunks: entry.cuh.
//
// Order of the sum of squares: in double, each thread its elements in ascending order; the threads of a
// block as blockSum has it; the last block adds the chunks, thread i the chunks i, i + 256, ... in
// ascending order, then as blockSum has it.
#include "../reduce.cuh"
#include "entry.cuh"

// partial has chunks doubles. With no chunk at all, one block runs and the norm is 0.
extern "C" __global__ void __launch_bounds__(256)
gradient_norm(float *norm, const Entry *entries, int count, int chunks, double *partial, unsigned *ticket) {
  __shared__ double scratch[32];
  __shared__ bool last;
  if (chunks > 0) {
    const update::Chunk c = update::chunkOf(entries, count);
    double sum = 0;
    update::each(c,
                 [&](int i) {
                   const Vec<4> g = load<4>(c.entry.g + i);
#pragma unroll
                   for (int k = 0; k < 4; k++) sum += (double)g.v[k] * (double)g.v[k];
                 },
                 [&](int i) { sum += (double)c.entry.g[i] * (double)c.entry.g[i]; });
    sum = blockSum(sum, scratch);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  }
  if (!lastBlock(ticket, gridDim.x, &last)) return;
  double sum = 0;
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
  update::each(c,
               [&](int i) {
                 Vec<4> g = load<4>(c.entry.g + i);
#pragma unroll
                 for (int k = 0; k < 4; k++) g.v[k] *= scale;
                 store<4>(c.entry.g + i, g);
               },
               [&](int i) { c.entry.g[i] *= scale; });
}
