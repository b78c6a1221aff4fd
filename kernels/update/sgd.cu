// SGD with momentum over all parameters: g = G + decay W; M = momentum M + g; W = W - rate M; and, where
// wanted, a bfloat16 copy of W. Mapping: entry.cuh.
#include "entry.cuh"

namespace update {

template <int V>
static __device__ __forceinline__ void descend(const Entry &e, int i, float momentum) {
  Vec<V> w = load<V>(e.w + i), m = load<V>(e.m + i);
  const Vec<V> g = load<V>(e.g + i);
#pragma unroll
  for (int k = 0; k < V; k++) {
    m.v[k] = momentum * m.v[k] + (g.v[k] + e.decay * w.v[k]);
    w.v[k] -= e.rate * m.v[k];
  }
  store<V>(e.m + i, m);
  store<V>(e.w + i, w);
  if (e.copy) store<V>(e.copy + i, w);
}

}  // namespace update

extern "C" __global__ void __launch_bounds__(256) sgd(const Entry *entries, int count, float momentum) {
  const update::Chunk c = update::chunkOf(entries, count);
  update::each(c, [&](int i) { update::descend<4>(c.entry, i, momentum); },
               [&](int i) { update::descend<1>(c.entry, i, momentum); });
}
