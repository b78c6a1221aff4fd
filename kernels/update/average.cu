// The moving average of all parameters, A = A + share (W - A), and its exchange with them, after which a
// bfloat16 copy of W, where wanted, is that of the new W. Mapping: entry.cuh.
#include "entry.cuh"

namespace update {

template <int V>
static __device__ __forceinline__ void approach(const Entry &e, int i, float share) {
  Vec<V> a = load<V>(e.average + i);
  const Vec<V> w = load<V>(e.w + i);
#pragma unroll
  for (int k = 0; k < V; k++) a.v[k] += share * (w.v[k] - a.v[k]);
  store<V>(e.average + i, a);
}

template <int V>
static __device__ __forceinline__ void swap(const Entry &e, int i) {
  const Vec<V> w = load<V>(e.w + i), a = load<V>(e.average + i);
  store<V>(e.w + i, a);
  store<V>(e.average + i, w);
  if (e.copy) store<V>(e.copy + i, a);
}

}  // namespace update

extern "C" __global__ void __launch_bounds__(256) average(const Entry *entries, int count, float share) {
  const update::Chunk c = update::chunkOf(entries, count);
  update::each(c, [&](int i) { update::approach<4>(c.entry, i, share); },
               [&](int i) { update::approach<1>(c.entry, i, share); });
}

extern "C" __global__ void __launch_bounds__(256) exchange(const Entry *entries, int count) {
  const update::Chunk c = update::chunkOf(entries, count);
  update::each(c, [&](int i) { update::swap<4>(c.entry, i); }, [&](int i) { update::swap<1>(c.entry, i); });
}
