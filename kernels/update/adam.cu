// Adam over all parameters: g = G + decay W; M = b1 M + (1-b1) g; V = b2 V + (1-b2) g^2;
// W = W - rate (M c1) / (sqrt(V c2) + epsilon) with the bias corrections c = 1/(1-b^step); and, where
// wanted, a bfloat16 copy of W. AdamW leaves the decay out of g and takes rate decay W off instead.
// Mapping: entry.cuh.
#include "entry.cuh"

// Adam is the constants of a step, laid out as adamConstants in Go.
struct Adam {
  float beta1, rest1, beta2, rest2, correct1, correct2, epsilon;
};

namespace update {

template <int V, bool decoupled>
static __device__ __forceinline__ void adapt(const Entry &e, int i, const Adam &a) {
  Vec<V> w = load<V>(e.w + i), m = load<V>(e.m + i), v = load<V>(e.v + i);
  const Vec<V> gradient = load<V>(e.g + i);
#pragma unroll
  for (int k = 0; k < V; k++) {
    const float g = decoupled ? gradient.v[k] : gradient.v[k] + e.decay * w.v[k];
    m.v[k] = a.beta1 * m.v[k] + a.rest1 * g;
    v.v[k] = a.beta2 * v.v[k] + a.rest2 * g * g;
    const float root = sqrtf(v.v[k] * a.correct2) + a.epsilon;
    if (decoupled) {
      w.v[k] -= e.rate * ((m.v[k] * a.correct1) / root + e.decay * w.v[k]);
    } else {
      w.v[k] -= e.rate * (m.v[k] * a.correct1) / root;
    }
  }
  store<V>(e.m + i, m);
  store<V>(e.v + i, v);
  store<V>(e.w + i, w);
  if (e.copy) store<V>(e.copy + i, w);
}

}  // namespace update

// The constants lie in device memory: they change from step to step, while a captured launch does not.
extern "C" __global__ void __launch_bounds__(256) adam(const Entry *entries, int count, const Adam *constants) {
  const update::Chunk c = update::chunkOf(entries, count);
  const Adam a = *constants;
  update::each(c, [&](int i) { update::adapt<4, false>(c.entry, i, a); },
               [&](int i) { update::adapt<1, false>(c.entry, i, a); });
}

extern "C" __global__ void __launch_bounds__(256) adamw(const Entry *entries, int count, const Adam *constants) {
  const update::Chunk c = update::chunkOf(entries, count);
  const Adam a = *constants;
  update::each(c, [&](int i) { update::adapt<4, true>(c.entry, i, a); },
               [&](int i) { update::adapt<1, true>(c.entry, i, a); });
}
