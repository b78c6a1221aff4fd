// The moving average of all parameters, A = A + share (W - A), and its exchange with them. After it a
// bfloat16 copy, if wanted, holds the new W. Mapping: entry.cuh. The average moves 12 bytes an element, the
// exchange 16, 18 with the copy.
#include "entry.cuh"

namespace update {

template <int V>
struct Averaged {
  Vec<V> w, a;
};

struct Approach {
  const Entry &e;
  float share;

  template <int V>
  __device__ __forceinline__ Averaged<V> load(int i) const {
    return {::load<V>(e.w + i), ::load<V>(e.average + i)};
  }
  template <int V>
  __device__ __forceinline__ void use(int i, Averaged<V> s) const {
#pragma unroll
    for (int k = 0; k < V; k++) s.a.v[k] += share * (s.w.v[k] - s.a.v[k]);
    store<V>(e.average + i, s.a);
  }
};

struct Swap {
  const Entry &e;

  template <int V>
  __device__ __forceinline__ Averaged<V> load(int i) const {
    return {::load<V>(e.w + i), ::load<V>(e.average + i)};
  }
  template <int V>
  __device__ __forceinline__ void use(int i, const Averaged<V> &s) const {
    store<V>(e.w + i, s.a);
    store<V>(e.average + i, s.w);
    if (e.copy) store<V>(e.copy + i, s.a);
  }
};

}  // namespace update

extern "C" __global__ void __launch_bounds__(256) average(const Entry *entries, int count, float share) {
  const update::Chunk c = update::chunkOf(entries, count);
  update::Approach op = {c.entry, share};
  update::each<2>(c, op);
}

extern "C" __global__ void __launch_bounds__(256) exchange(const Entry *entries, int count) {
  const update::Chunk c = update::chunkOf(entries, count);
  update::Swap op = {c.entry};
  update::each<2>(c, op);
}
