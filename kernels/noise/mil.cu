// Noisy-or over the instances of ragged bags, p = -expm1(-sum softplus(o_s)), and its gradient
// do_s = dp (1-p) sigmoid(o_s). Mapping, layout and order of sums: bag.cuh.
#include "bag.cuh"

namespace noise {

template <int V>
static __device__ __forceinline__ void noisyOR(float *p, float *gradient, const float *dp, const float *o,
                                               const int *offsets, int bags, int frames, int cells, int classes,
                                               double *sums, float *factors) {
  const bag::Tile t = bag::tileOf<V>(offsets, bags, frames, cells, classes);
  const bag::Instances<V> instances(t, o, classes);
  bag::Softplus<V> sum;
  instances.each(t, [&](const Vec<V> &x, long long) { sum.add(x); }, [&] { sum.fold(); });
  bag::join<V>(t, sum.total, sums, bag::Plus());
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  for (int c = thread; c < t.width && t.first + c < classes; c += threads) {
    const double total = bag::joined(t, sums, c, bag::Plus());
    const long long at = (long long)t.bag * classes + t.first + c;
    if (p) p[at] = (float)-expm1(-total);
    if (dp) factors[c] = (float)(dp[at] * exp(-total));
  }
  __syncthreads();
  if (!gradient || !t.active) return;
  float *out = gradient + t.begin + (long long)t.strip * classes;
  instances.each(t, [&](const Vec<V> &x, long long place) {
    Vec<V> d;
#pragma unroll
    for (int i = 0; i < V; i++) d.v[i] = factors[t.own + i] * bag::sigmoid(x.v[i]);
    store<V>(out + place, d);
  });
}

}  // namespace noise

// p and gradient may each be null. dp is read for the gradient. Four classes a thread: classes is a multiple
// of 4, o and gradient are at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(bag::maxThreads, 1)
noisy_or_wide(float *p, float *gradient, const float *dp, const float *o, const int *offsets, int bags, int frames,
              int cells, int classes) {
  __shared__ double sums[bag::maxSums];
  __shared__ float factors[bag::maxTile];
  noise::noisyOR<4>(p, gradient, dp, o, offsets, bags, frames, cells, classes, sums, factors);
}

// One class a thread, for any number and place.
extern "C" __global__ void __launch_bounds__(bag::maxThreads)
noisy_or(float *p, float *gradient, const float *dp, const float *o, const int *offsets, int bags, int frames,
         int cells, int classes) {
  __shared__ double sums[bag::maxSums];
  __shared__ float factors[bag::maxTile];
  noise::noisyOR<1>(p, gradient, dp, o, offsets, bags, frames, cells, classes, sums, factors);
}
