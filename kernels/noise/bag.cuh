// Sums over the instances of a bag, for the noise step.
//
// Mapping. A block of at most maxThreads owns one bag and a tile of neighbouring classes; blockIdx.x is bag * tiles + tile.
// Threads stand in blockDim.x lanes of V classes each and blockDim.y strips of instances: the thread
// (lane, strip) visits instances strip, strip + strips, ... A row of instances is classes floats.
// Either blockDim.x divides 32 and the block is whole warps, or blockDim.x is 32.
//
// Order of sums. Each thread adds its instances in ascending order, foldAfter of them in float before
// they join a double; then lanes of equal classes within a warp as a tree; then warps in ascending
// order. Nothing depends on timing.
//
// Bytes a logit: 4, and 4 for its gradient. Beyond the instances that threads keep, a gradient needs 4 more, which
// the second-level cache has: a batch's logits are a few megabytes.
#pragma once
#include "../vector.cuh"

namespace bag {

const int maxThreads = 512;

// Most classes of a tile, and most doubles that a block's reduction keeps: warps times classes.
const int maxTile = 128;
const int maxSums = 2048;

const int foldAfter = 32;

// Tile is the part of a bag for a block, and the thread's part of it.
struct Tile {
  int bag, first, width;  // bag, first class, and classes of the tile
  int rows;               // instances of the bag
  int strip, strips;
  int own;      // first class of the thread, within the tile
  bool active;  // whether the thread has classes
  long long begin;  // of the thread's classes in the first instance of the bag, in elements
};

// Frame offsets out of range are clamped: they give wrong numbers, never stray memory.
template <int V>
static __device__ __forceinline__ Tile tileOf(const int *offsets, int bags, int frames, int cells, int classes) {
  Tile t;
  const int tiles = gridDim.x / bags;
  t.bag = blockIdx.x / tiles;
  t.width = blockDim.x * V;
  t.first = (blockIdx.x - t.bag * tiles) * t.width;
  int lo = t.bag, hi = t.bag + 1;
  if (offsets) {
    lo = min(max(offsets[t.bag], 0), frames);
    hi = min(max(offsets[t.bag + 1], lo), frames);
  }
  t.rows = (hi - lo) * cells;
  t.strip = threadIdx.y;
  t.strips = blockDim.y;
  t.own = threadIdx.x * V;
  t.active = t.first + t.own < classes;
  t.begin = (long long)lo * cells * classes + t.first + t.own;
  return t;
}

// Instances visits the thread's instances: the first ones are loaded together and stay in registers.
template <int V>
struct Instances {
  // Instances that a thread keeps in registers between the two passes over a bag. With four classes there are
  // fewer, so that all registers suffice together with the sums in double.
  static const int kept = V == 1 ? 16 : 8;

  const float *data;
  long long step;  // elements between the thread's instances
  Vec<V> held[kept];

  __device__ __forceinline__ Instances(const Tile &t, const float *logits, int classes)
      : data(logits + t.begin + (long long)t.strip * classes), step((long long)t.strips * classes) {
#pragma unroll
    for (int i = 0; i < kept; i++) {
      if (t.active && t.strip + i * t.strips < t.rows) held[i] = load<V>(data + i * step);
    }
  }

  // each calls visit(instance, place) with the place of the instance's classes in the array, relative to the
  // thread's first one, and pause() after at most foldAfter instances and at the end.
  template <class F, class P>
  __device__ __forceinline__ void each(const Tile &t, F visit, P pause) const {
    static_assert(kept <= foldAfter, "the instances in registers join at once");
    if (!t.active) return;
#pragma unroll
    for (int i = 0; i < kept; i++) {
      if (t.strip + i * t.strips < t.rows) visit(held[i], i * step);
    }
    pause();
    for (int i = kept; t.strip + i * t.strips < t.rows; i += foldAfter) {
#pragma unroll 4
      for (int j = i; j < i + foldAfter; j++) {
        if (t.strip + j * t.strips < t.rows) visit(load<V>(data + j * step), j * step);
      }
      pause();
    }
  }
  template <class F>
  __device__ __forceinline__ void each(const Tile &t, F visit) const {
    each(t, visit, [] {});
  }

  // again is each without the registers, for paths that are seldom taken.
  template <class F>
  __device__ __forceinline__ void again(const Tile &t, F visit) const {
    if (!t.active) return;
#pragma unroll 1
    for (int i = 0; t.strip + i * t.strips < t.rows; i++) visit(load<V>(data + i * step), i * step);
  }
};

// Softplus sums log(1 + exp(o)) = max(o,0) + log(1+e), e = exp(-|o|). The logarithms are joined to that
// of a product, prod (1+e), kept as its excess over 1: a sum of positive terms, in which small e lose
// nothing.
template <int V>
struct Softplus {
  float positive[V], excess[V];
  double total[V];

  __device__ __forceinline__ Softplus() {
#pragma unroll
    for (int i = 0; i < V; i++) positive[i] = excess[i] = 0, total[i] = 0;
  }
  __device__ __forceinline__ void add(const Vec<V> &o) {
#pragma unroll
    for (int i = 0; i < V; i++) {
      const float e = expf(-fabsf(o.v[i]));
      positive[i] += fmaxf(o.v[i], 0.0f);
      excess[i] += e + e * excess[i];
    }
  }
  __device__ __forceinline__ void fold() {
#pragma unroll
    for (int i = 0; i < V; i++) {
      total[i] += (double)(positive[i] + log1pf(excess[i]));
      positive[i] = excess[i] = 0;
    }
  }
};

// Linear sums the logits themselves.
template <int V>
struct Linear {
  double total[V];

  __device__ __forceinline__ Linear() {
#pragma unroll
    for (int i = 0; i < V; i++) total[i] = 0;
  }
  __device__ __forceinline__ void add(const Vec<V> &o) {
#pragma unroll
    for (int i = 0; i < V; i++) total[i] += (double)o.v[i];
  }
};

struct Plus {
  __device__ __forceinline__ double operator()(double a, double b) const { return a + b; }
};
struct Larger {
  __device__ __forceinline__ double operator()(double a, double b) const { return a > b ? a : b; }
};

// join reduces one value per thread and class over the strips. sums is maxSums doubles of shared memory.
// joined(sums, t, c) is then the result of class c of the tile. All threads of the block call.
template <int V, class Op>
static __device__ __forceinline__ void join(const Tile &t, double *value, double *sums, Op op) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, lane = thread & 31, warp = thread >> 5;
#pragma unroll
  for (int i = 0; i < V; i++) {
    for (int step = blockDim.x; step < 32; step <<= 1) {
      value[i] = op(value[i], __shfl_xor_sync(0xffffffffu, value[i], step));
    }
    if (lane < (int)blockDim.x) sums[warp * t.width + t.own + i] = value[i];
  }
  __syncthreads();
}

template <class Op>
static __device__ __forceinline__ double joined(const Tile &t, const double *sums, int c, Op op) {
  const int warps = blockDim.x * blockDim.y >> 5;
  double value = sums[c];
  for (int warp = 1; warp < warps; warp++) value = op(value, sums[warp * t.width + c]);
  return value;
}

// sigmoid in float, from the exponential that does not overflow. The divisor is in [1, 2]. In that range the
// fast division is good to two units in the last place.
static __device__ __forceinline__ float sigmoid(float o) {
  const float e = expf(-fabsf(o));
  return __fdividef(o >= 0 ? 1.0f : e, 1.0f + e);
}

}  // namespace bag
