// Pooling of all cells of a bag to one vector, mean or maximum, and the gradients.
//
// Maps are float or bfloat16. Vectors, and the sums that make them, are float and double.
//
// Mapping of bag_pool: block (bag * tiles + tile, part) joins the cells of its part of the bag for a tile of
// 32 neighbouring channels. Thread (x, y) takes channel x, or the channels in 16 bytes, and cells y, y +
// blockDim.y, ... of the part. Neighbouring threads read neighbouring channels. bag_max_gradient has one
// part, the whole bag, and a channel for each thread.
//
// Order of the mean: each thread adds its cells in ascending order, 32 of them in float before they join a
// double. Then the threads of a channel are added in ascending order. Then the last block of the bag's tile
// adds the parts in ascending order. Maxima do not depend on an order. Of equal ones the first cell gets the
// gradient.
//
// Bytes, for each element of x of T bytes: pooling reads T. The gradient of the mean writes T, and reads as
// much if it accumulates. The gradient of the maximum writes T and reads x up to each maximum.
#include "../reduce.cuh"
#include "../vector.cuh"

namespace pool {

const int strips = 64;    // largest blockDim.y
const int tileWide = 32;  // channels of a block
const int foldAfter = 32;
const int batch = 4;  // cells that a thread loads before it uses the first

// Cells of one bag, and the first channel of this block.
struct Bag {
  int index, tile;
  long long first, count;  // cells
};

// Frame offsets out of range are clamped: they give wrong numbers, never stray memory.
static __device__ __forceinline__ Bag bagOf(const int *offsets, int bags, int frames, int cells) {
  const int tiles = gridDim.x / bags;
  Bag b;
  b.index = blockIdx.x / tiles;
  b.tile = (blockIdx.x - b.index * tiles) * tileWide;
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

// values is strips * tileWide doubles of shared memory. A thread has V channels, blockDim.x is tileWide / V.
template <class Op, int V, class T>
static __device__ __forceinline__ void joinBag(float *g, const T *x, const Bag &b, int channels, double *partial,
                                               unsigned *tickets, double *values, bool *last) {
  static_assert(foldAfter % batch == 0, "whole batches join a double");
  const int own = threadIdx.x * V;
  const long long step = blockDim.y;
  const long long part = (b.count + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * part;
  const long long end = min(begin + part, b.count);
  double total[V];
#pragma unroll
  for (int k = 0; k < V; k++) total[k] = (double)Op::start();
  if (b.tile + own < channels) {
    const T *at = x + (b.first + begin + threadIdx.y) * channels + b.tile + own;
    const long long stride = step * channels;
    for (long long cell = begin + threadIdx.y; cell < end;) {
      float some[V];
#pragma unroll
      for (int k = 0; k < V; k++) some[k] = Op::start();
      int i = 0;
      for (; i < foldAfter && cell + (batch - 1) * step < end; i += batch, cell += batch * step) {
        Raw<T, V> held[batch];
#pragma unroll
        for (int n = 0; n < batch; n++) held[n] = loadRaw<V>(at + n * stride);
        at += batch * stride;
#pragma unroll
        for (int n = 0; n < batch; n++) {
#pragma unroll
          for (int k = 0; k < V; k++) some[k] = Op::cell(some[k], widen(held[n].e[k]));
        }
      }
#pragma unroll 1
      for (; i < foldAfter && cell < end; i++, cell += step, at += stride) {
        const Vec<V> v = load<V>(at);
#pragma unroll
        for (int k = 0; k < V; k++) some[k] = Op::cell(some[k], v.v[k]);
      }
#pragma unroll
      for (int k = 0; k < V; k++) total[k] = Op::join(total[k], (double)some[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < V; k++) values[threadIdx.y * tileWide + own + k] = total[k];
  __syncthreads();
  // partial holds gridDim.y values for each channel that a block may have, in the order of the blocks.
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  double *parts = partial + ((long long)blockIdx.x * tileWide + thread) * gridDim.y;
  const bool joins = thread < tileWide && b.tile + thread < channels;
  if (joins) {
    double all = values[thread];
    for (int i = 1; i < (int)blockDim.y; i++) all = Op::join(all, values[i * tileWide + thread]);
    parts[blockIdx.y] = all;
  }
  if (!lastBlock(tickets + blockIdx.x, gridDim.y, last) || !joins) return;
  double all = parts[0];
  for (int i = 1; i < (int)gridDim.y; i++) all = Op::join(all, parts[i]);
  g[(long long)b.index * channels + b.tile + thread] = Op::result(all, b.count);
}

template <int V, class T>
static __device__ __forceinline__ void bagPool(float *g, const T *x, const Bag &b, int channels, double *partial,
                                               unsigned *tickets, double *values, bool *last, bool top) {
  if (top) {
    joinBag<Top, V>(g, x, b, channels, partial, tickets, values, last);
  } else {
    joinBag<Sum, V>(g, x, b, channels, partial, tickets, values, last);
  }
}

template <class T>
static __device__ __forceinline__ void bagPoolOf(float *g, const T *x, const Bag &b, int channels, double *partial,
                                                 unsigned *tickets, double *values, bool *last, bool top, int lanes) {
  if (lanes == 1) return bagPool<1>(g, x, b, channels, partial, tickets, values, last, top);
  bagPool<Wide<T>::lanes>(g, x, b, channels, partial, tickets, values, last, top);
}

// places is strips rows of tileWide cells in shared memory. A thread has one channel.
template <class T>
static __device__ __forceinline__ void maxGradient(T *dx, const float *dg, const T *x, const float *g, const Bag &b,
                                                   int channels, bool accumulate, long long *places) {
  const int channel = b.tile + threadIdx.x;
  const long long at = (long long)b.index * channels + channel, from = b.first * channels + channel;
  long long place = b.count;
  if (channel < channels) {
    const float top = g[at];
    for (long long cell = threadIdx.y; cell < b.count && place == b.count; cell += blockDim.y) {
      if (widen(x[from + cell * channels]) == top) place = cell;
    }
  }
  places[threadIdx.y * tileWide + threadIdx.x] = place;
  __syncthreads();
  if (channel >= channels) return;
  for (int i = 0; i < (int)blockDim.y; i++) place = min(place, places[i * tileWide + threadIdx.x]);
  if (place == b.count) place = 0;
  const float gradient = dg[at];
  for (long long cell = threadIdx.y; cell < b.count; cell += blockDim.y) {
    T *to = dx + from + cell * channels;
    if (!accumulate) {
      narrow(*to, cell == place ? gradient : 0.0f);
    } else if (cell == place) {
      narrow(*to, widen(*to) + gradient);
    }
  }
}

template <int V, class T>
static __device__ __forceinline__ void meanGradient(T *dx, const float *dg, long long elements, int channels,
                                                    float inverse, bool accumulate) {
  const long long step = (long long)gridDim.y * blockDim.x * V;
  long long i = ((long long)blockIdx.y * blockDim.x + threadIdx.x) * V;
  int channel = (int)(i % channels);
  const int advance = (int)(step % channels);
  for (; i < elements; i += step) {
    Vec<V> d = load<V>(dg + channel);
    channel += advance - (channel >= channels - advance ? channels : 0);
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

// Block (frame, part) takes the elements of a frame in order. The bag of the frame is found by bisection.
template <class T>
static __device__ __forceinline__ void meanGradientOf(T *dx, const float *dg, const int *offsets, int bags, int cells,
                                                      int channels, bool accumulate) {
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
  T *to = dx + frame * elements;
  const float *from = dg + (long long)bag * channels;
  if (rowsAligned(dx, channels) && rowsAligned(dg, channels)) {
    meanGradient<Wide<T>::lanes>(to, from, elements, channels, inverse, accumulate);
  } else {
    meanGradient<1>(to, from, elements, channels, inverse, accumulate);
  }
}

}  // namespace pool

// top chooses the maximum, else the mean. lanes is the channels of a thread: 1, or the channels in 16 bytes
// if rows of x are at multiples of them. blockDim.x is 32 / lanes. partial has gridDim.x * 32 * gridDim.y
// doubles, tickets gridDim.x counters.
extern "C" __global__ void __launch_bounds__(256, 4)
bag_pool(float *g, const float *x, const int *offsets, double *partial, unsigned *tickets, int bags, int frames,
         int cells, int channels, int top, int lanes) {
  __shared__ double values[pool::strips * pool::tileWide];
  __shared__ bool last;
  pool::bagPoolOf(g, x, pool::bagOf(offsets, bags, frames, cells), channels, partial, tickets, values, &last, top != 0,
                  lanes);
}

extern "C" __global__ void __launch_bounds__(256, 4)
bag_pool_bf16(float *g, const bfloat16 *x, const int *offsets, double *partial, unsigned *tickets, int bags,
              int frames, int cells, int channels, int top, int lanes) {
  __shared__ double values[pool::strips * pool::tileWide];
  __shared__ bool last;
  pool::bagPoolOf(g, x, pool::bagOf(offsets, bags, frames, cells), channels, partial, tickets, values, &last, top != 0,
                  lanes);
}

// dx gets dg at the first cell that equals g, and 0 elsewhere. With accumulate dg is added to that cell and
// the others are unchanged. A maximum that equals no cell is NaN: it goes to the first one.
extern "C" __global__ void __launch_bounds__(1024)
bag_max_gradient(float *dx, const float *dg, const float *x, const float *g, const int *offsets, int bags, int frames,
                 int cells, int channels, int accumulate) {
  __shared__ long long places[pool::strips * pool::tileWide];
  pool::maxGradient(dx, dg, x, g, pool::bagOf(offsets, bags, frames, cells), channels, accumulate != 0, places);
}

extern "C" __global__ void __launch_bounds__(1024)
bag_max_gradient_bf16(bfloat16 *dx, const float *dg, const bfloat16 *x, const float *g, const int *offsets, int bags,
                      int frames, int cells, int channels, int accumulate) {
  __shared__ long long places[pool::strips * pool::tileWide];
  pool::maxGradient(dx, dg, x, g, pool::bagOf(offsets, bags, frames, cells), channels, accumulate != 0, places);
}

// dx = dg / cells of the bag, for every cell, or added to dx.
extern "C" __global__ void __launch_bounds__(256)
bag_mean_gradient(float *dx, const float *dg, const int *offsets, int bags, int cells, int channels, int accumulate) {
  pool::meanGradientOf(dx, dg, offsets, bags, cells, channels, accumulate != 0);
}

extern "C" __global__ void __launch_bounds__(256)
bag_mean_gradient_bf16(bfloat16 *dx, const float *dg, const int *offsets, int bags, int cells, int channels,
                       int accumulate) {
  pool::meanGradientOf(dx, dg, offsets, bags, cells, channels, accumulate != 0);
}
