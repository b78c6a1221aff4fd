// Pooling of all cells of a bag to one vector, mean or maximum, and the gradients.
//
// Mapping of bag_pool: block (bag * tiles + tile, part) joins the cells of its part of the bag for a tile of
// 32 neighbouring channels; thread (x, y) takes channel x and cells y, y + blockDim.y, ... of the part.
// Neighbouring threads read neighbouring channels. bag_max_gradient has one part, the whole bag.
//
// Order of the mean: each thread adds its cells in ascending order, 32 of them in float before they join a
// double; then the threads of a channel in ascending order; then, by the last block of the bag's tile, the
// parts in ascending order. Maxima do not depend on an order; of equal ones the first cell gets the
// gradient.
#include "../reduce.cuh"
#include "../vector.cuh"

namespace pool {

const int strips = 32;    // largest blockDim.y
const int tileWide = 32;  // blockDim.x
const int foldAfter = 32;

// Cells of one bag, and the channel of this thread.
struct Bag {
  int index, channel;
  long long first, count;  // cells
  bool active;
};

// Frame offsets out of range are clamped: they give wrong numbers, never stray memory.
static __device__ __forceinline__ Bag bagOf(const int *offsets, int bags, int frames, int cells, int channels) {
  const int tiles = gridDim.x / bags;
  Bag b;
  b.index = blockIdx.x / tiles;
  b.channel = (blockIdx.x - b.index * tiles) * blockDim.x + threadIdx.x;
  b.active = b.channel < channels;
  int lo = b.index, hi = b.index + 1;
  if (offsets) {
    lo = min(max(offsets[b.index], 0), frames);
    hi = min(max(offsets[b.index + 1], lo), frames);
  }
  b.first = (long long)lo * cells;
  b.count = (long long)(hi - lo) * cells;
  return b;
}

struct Sum {
  static __device__ __forceinline__ float start() { return 0; }
  static __device__ __forceinline__ float cell(float a, float b) { return a + b; }
  static __device__ __forceinline__ double join(double a, double b) { return a + b; }
  static __device__ __forceinline__ float result(double total, long long count) { return (float)(total / (double)count); }
};

struct Top {
  static __device__ __forceinline__ float start() { return -INFINITY; }
  static __device__ __forceinline__ float cell(float a, float b) { return larger(a, b); }
  static __device__ __forceinline__ double join(double a, double b) { return a > b || a != a ? a : b; }
  static __device__ __forceinline__ float result(double top, long long) { return (float)top; }
};

// values is strips * tileWide doubles of shared memory.
template <class Op>
static __device__ __forceinline__ void joinBag(float *g, const float *x, const Bag &b, int channels, double *partial,
                                               unsigned *tickets, double *values, bool *last) {
  const long long part = (b.count + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * part;
  const long long end = min(begin + part, b.count);
  double total = (double)Op::start();
  if (b.active) {
    const float *from = x + b.first * channels + b.channel;
    for (long long cell = begin + threadIdx.y; cell < end;) {
      float some = Op::start();
#pragma unroll 8
      for (int i = 0; i < foldAfter && cell < end; i++, cell += blockDim.y) some = Op::cell(some, from[cell * channels]);
      total = Op::join(total, (double)some);
    }
  }
  values[threadIdx.y * tileWide + threadIdx.x] = total;
  __syncthreads();
  // partial holds gridDim.y values for each channel that a block may have, in the order of the blocks.
  double *own = partial + ((long long)blockIdx.x * tileWide + threadIdx.x) * gridDim.y;
  const bool joins = threadIdx.y == 0 && b.active;
  if (joins) {
    for (int i = 1; i < (int)blockDim.y; i++) total = Op::join(total, values[i * tileWide + threadIdx.x]);
    own[blockIdx.y] = total;
  }
  if (!lastBlock(tickets + blockIdx.x, gridDim.y, last) || !joins) return;
  total = own[0];
  for (int i = 1; i < (int)gridDim.y; i++) total = Op::join(total, own[i]);
  g[(long long)b.index * channels + b.channel] = Op::result(total, b.count);
}

}  // namespace pool

// top chooses the maximum, else the mean. partial has gridDim.x * 32 * gridDim.y doubles, tickets gridDim.x
// counters.
extern "C" __global__ void __launch_bounds__(1024)
bag_pool(float *g, const float *x, const int *offsets, double *partial, unsigned *tickets, int bags, int frames,
         int cells, int channels, int top) {
  __shared__ double values[pool::strips * pool::tileWide];
  __shared__ bool last;
  const pool::Bag b = pool::bagOf(offsets, bags, frames, cells, channels);
  if (top) {
    pool::joinBag<pool::Top>(g, x, b, channels, partial, tickets, values, &last);
  } else {
    pool::joinBag<pool::Sum>(g, x, b, channels, partial, tickets, values, &last);
  }
}

// dx gets dg at the first cell that equals g, and 0 elsewhere; with accumulate that one cell is added to
// and the others are left as they are. A maximum that equals no cell is NaN: it goes to the first one.
extern "C" __global__ void __launch_bounds__(1024)
bag_max_gradient(float *dx, const float *dg, const float *x, const float *g, const int *offsets, int bags, int frames,
                 int cells, int channels, int accumulate) {
  __shared__ long long places[pool::strips][pool::tileWide];
  const pool::Bag b = pool::bagOf(offsets, bags, frames, cells, channels);
  const long long at = (long long)b.index * channels + b.channel, from = b.first * channels + b.channel;
  long long place = b.count;
  if (b.active) {
    const float top = g[at];
    for (long long cell = threadIdx.y; cell < b.count && place == b.count; cell += blockDim.y) {
      if (x[from + cell * channels] == top) place = cell;
    }
  }
  places[threadIdx.y][threadIdx.x] = place;
  __syncthreads();
  if (!b.active) return;
  for (int i = 0; i < (int)blockDim.y; i++) place = min(place, places[i][threadIdx.x]);
  if (place == b.count) place = 0;
  const float gradient = dg[at];
  for (long long cell = threadIdx.y; cell < b.count; cell += blockDim.y) {
    float *to = dx + from + cell * channels;
    if (accumulate) {
      if (cell == place) *to += gradient;
    } else {
      *to = cell == place ? gradient : 0.0f;
    }
  }
}

// dx = dg / cells of the bag, for every cell, or added to dx. Block (frame, part) takes the elements of a
// frame in order; the bag of the frame is found by bisection.
namespace pool {

template <int V>
static __device__ __forceinline__ void meanGradient(float *dx, const float *dg, long long elements, int channels,
                                                    float inverse, bool accumulate) {
  const long long step = (long long)gridDim.y * blockDim.x * V;
  for (long long i = ((long long)blockIdx.y * blockDim.x + threadIdx.x) * V; i < elements; i += step) {
    Vec<V> d = load<V>(dg + i % channels);
#pragma unroll
    for (int k = 0; k < V; k++) d.v[k] *= inverse;
    if (accumulate) {
      const Vec<V> held = load<V>(dx + i);
#pragma unroll
      for (int k = 0; k < V; k++) d.v[k] += held.v[k];
    }
    store<V>(dx + i, d);
  }
}

}  // namespace pool

extern "C" __global__ void __launch_bounds__(256)
bag_mean_gradient(float *dx, const float *dg, const int *offsets, int bags, int cells, int channels, int accumulate) {
  const int frame = blockIdx.x;
  int bag = frame, count = 1;
  if (offsets) {
    int lo = 0, hi = bags;  // offsets[lo] <= frame < offsets[hi]
    while (hi - lo > 1) {
      const int middle = (lo + hi) / 2;
      if (offsets[middle] <= frame) lo = middle; else hi = middle;
    }
    bag = lo, count = offsets[lo + 1] - offsets[lo];
  }
  const long long elements = (long long)cells * channels;
  const float inverse = 1.0f / ((float)count * (float)cells);
  float *to = dx + frame * elements;
  const float *from = dg + (long long)bag * channels;
  if (rowsAligned(dx, channels) && rowsAligned(dg, channels)) {
    pool::meanGradient<4>(to, from, elements, channels, inverse, accumulate != 0);
  } else {
    pool::meanGradient<1>(to, from, elements, channels, inverse, accumulate != 0);
  }
}
