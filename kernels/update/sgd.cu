// SGD with momentum over all parameters: g = G + decay W; M = momentum M + g; W = W - rate M. If
// wanted, it also writes a bfloat16 copy of W. Mapping: entry.cuh. Moves 20 bytes an element, 22 with the copy.
#include "entry.cuh"

namespace update {

template <int V>
struct Descended {
  Vec<V> w, m, g;
};

struct Descend {
  const Entry &e;
  float momentum;

  template <int V>
  __device__ __forceinline__ Descended<V> load(int i) const {
    return {::load<V>(e.w + i), ::load<V>(e.m + i), ::load<V>(e.g + i)};
  }
  template <int V>
  __device__ __forceinline__ void use(int i, Descended<V> s) const {
#pragma unroll
    for (int k = 0; k < V; k++) {
      s.m.v[k] = momentum * s.m.v[k] + (s.g.v[k] + e.decay * s.w.v[k]);
      s.w.v[k] -= e.rate * s.m.v[k];
    }
    store<V>(e.m + i, s.m);
    store<V>(e.w + i, s.w);
    if (e.copy) store<V>(e.copy + i, s.w);
  }
};

}  // namespace update

extern "C" __global__ void __launch_bounds__(256) sgd(const Entry *entries, int count, float momentum) {
  const update::Chunk c = update::chunkOf(entries, count);
  update::Descend op = {c.entry, momentum};
  update::each<2>(c, op);
}
