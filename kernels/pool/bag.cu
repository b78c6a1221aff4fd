// Pooling of all cells of a bag to one vector, mean or maximum, and the gradients.
//
// Mapping of bag_mean, bag_max and bag_max_gradient: block blockIdx.x is bag * tiles + tile, a tile being
// blockDim.x neighbouring channels; threadIdx.y is a strip of cells: the thread visits cells threadIdx.y,
// threadIdx.y + blockDim.y, ... Neighbouring threads read neighbouring channels.
//
// Order of the mean: each thread adds its cells in ascending order, 32 of them in float before they join a
// double; then the strips in ascending order. Maxima do not depend on an order, and of equal ones the
// first cell gets the gradient.
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

}  // namespace pool

extern "C" __global__ void __launch_bounds__(1024)
bag_mean(float *g, const float *x, const int *offsets, int bags, int frames, int cells, int channels) {
  __shared__ double sums[pool::strips][pool::tileWide];
  const pool::Bag b = pool::bagOf(offsets, bags, frames, cells, channels);
  double total = 0;
  if (b.active) {
    const float *from = x + b.first * channels + b.channel;
    for (long long cell = threadIdx.y; cell < b.count;) {
      float part = 0;
      for (int i = 0; i < pool::foldAfter && cell < b.count; i++, cell += blockDim.y) part += from[cell * channels];
      total += (double)part;
    }
  }
  sums[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.y != 0 || !b.active) return;
  for (int i = 1; i < (int)blockDim.y; i++) total += sums[i][threadIdx.x];
  g[(long long)b.index * channels + b.channel] = (float)(total / (double)b.count);
}

extern "C" __global__ void __launch_bounds__(1024)
bag_max(float *g, const float *x, const int *offsets, int bags, int frames, int cells, int channels) {
  __shared__ float tops[pool::strips][pool::tileWide];
  const pool::Bag b = pool::bagOf(offsets, bags, frames, cells, channels);
  float top = -INFINITY;
  if (b.active) {
    const float *from = x + b.first * channels + b.channel;
    for (long long cell = threadIdx.y; cell < b.count; cell += blockDim.y) top = larger(top, from[cell * channels]);
  }
  tops[threadIdx.y][threadIdx.x] = top;
  __syncthreads();
  if (threadIdx.y != 0 || !b.active) return;
  for (int i = 1; i < (int)blockDim.y; i++) top = larger(top, tops[i][threadIdx.x]);
  g[(long long)b.index * channels + b.channel] = top;
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
