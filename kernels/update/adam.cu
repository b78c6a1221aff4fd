// Adam over all parameters: g = G + decay W; M = b1 M + (1-b1) g; V = b2 V + (1-b2) g^2. W = W - rate (M c1)
// / (sqrt(V c2) + epsilon) with the bias corrections c = 1/(1-b^step), and, if wanted, a bfloat16 copy of W.
// AdamW leaves the decay out of g and subtracts rate decay W instead. Mapping: entry.cuh. Moves 28 bytes an
// element, 30 with the copy. Four arrays are enough loads at a time.
#include "entry.cuh"

// Adam is the constants of a step, laid out as adamConstants in Go.
struct Adam {
  float beta1, rest1, beta2, rest2, correct1, correct2, epsilon;
};

namespace update {

template <int V>
struct Adapted {
  Vec<V> w, m, v, g;
};

template <bool decoupled>
struct Adapt {
  const Entry &e;
  Adam a;

  template <int V>
  __device__ __forceinline__ Adapted<V> load(int i) const {
    return {::load<V>(e.w + i), ::load<V>(e.m + i), ::load<V>(e.v + i), ::load<V>(e.g + i)};
  }
  template <int V>
  __device__ __forceinline__ void use(int i, Adapted<V> s) const {
    Vec<V> &w = s.w, &m = s.m, &v = s.v;
#pragma unroll
    for (int k = 0; k < V; k++) {
      const float g = decoupled ? s.g.v[k] : s.g.v[k] + e.decay * w.v[k];
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
};

}  // namespace update

// The constants lie in device memory: they change from step to step, while a captured launch does not.
extern "C" __global__ void __launch_bounds__(256) adam(const Entry *entries, int count, const Adam *constants) {
  const update::Chunk c = update::chunkOf(entries, count);
  update::Adapt<false> op = {c.entry, *constants};
  update::each<1>(c, op);
}

extern "C" __global__ void __launch_bounds__(256) adamw(const Entry *entries, int count, const Adam *constants) {
  const update::Chunk c = update::chunkOf(entries, count);
  update::Adapt<true> op = {c.entry, *constants};
  update::each<1>(c, op);
}
