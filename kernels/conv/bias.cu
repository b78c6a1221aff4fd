// The steps around a convolution: its bias, fused with its ReLU, the end of a data or filter gradient, the
// bias gradient, the bias gradient with the mask of the layer below, and copies between float and bfloat16.
//
// Mapping of add_bias, end_gradient, from_bf16 and to_bf16: thread i takes groups of 16 bytes, i and on in
// steps of the grid. The array is one run of cells * channels elements. A thread loads four groups, or two of
// each array, before it uses the first: it has 64 bytes on their way.
//
// Mapping of bias_gradient and mask_bias_gradient: block (tile, part) sums the cells of its part for 32
// neighbouring channels, the columns of reduce.cuh. Thread (x, y) takes channel x, or the channels in 16
// bytes, and cells y, y + blockDim.y, ... It adds 32 of them in float before they join a double, loaded four
// at a time (two with a mask). The number of parts follows from the shape alone (kernels/tensor/grid.go):
// sums are equal on every card. With at most 64 registers a thread, four blocks share a multiprocessor, and
// parts make whole rounds of the 132 of an H200, five for the maps of the first layers.
#include "../reduce.cuh"
#include "../vector.cuh"

namespace conv {

const int inFlight = 4;  // groups of a thread that are loaded before the first is used

// fetch loads elements in their type, which takes half the registers for bfloat16. widened makes them float.
template <int V, class T>
static __device__ __forceinline__ Raw<T, V> fetch(const T *from) {
  return *reinterpret_cast<const Raw<T, V> *>(from);
}

template <int V, class T>
static __device__ __forceinline__ Vec<V> widened(const Raw<T, V> &raw) {
  Vec<V> x;
#pragma unroll
  for (int k = 0; k < V; k++) x.v[k] = widen(raw.e[k]);
  return x;
}

template <int V, class T>
static __device__ __forceinline__ void addBias(T *y, const float *bias, long long length, int channels, bool relu) {
  const long long step = (long long)gridDim.x * blockDim.x * V;
  const long long begin = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * V;
  const int stride = (int)(step % channels);
  int channel = (int)(begin % channels);
  for (long long first = begin; first < length; first += inFlight * step) {
    Raw<T, V> raw[inFlight];
#pragma unroll
    for (int u = 0; u < inFlight; u++) {
      if (first + u * step < length) raw[u] = fetch<V>(y + first + u * step);
    }
#pragma unroll
    for (int u = 0; u < inFlight; u++) {
      if (first + u * step >= length) break;
      Vec<V> v = widened<V>(raw[u]);
      if (bias) {
#pragma unroll
        for (int k = 0; k < V; k++) v.v[k] += bias[channel + k];
      }
#pragma unroll
      for (int k = 0; k < V; k++) v.v[k] = relu && v.v[k] <= 0 ? 0.0f : v.v[k];  // NaN stays
      store<V>(y + first + u * step, v);
      channel += stride;
      if (channel >= channels) channel -= channels;
    }
  }
}

template <class T>
static __device__ __forceinline__ void addBiasTo(T *y, const float *bias, long long length, int channels, bool relu) {
  if (rowsAligned(y, channels)) return addBias<Wide<T>::lanes>(y, bias, length, channels, relu);
  addBias<1>(y, bias, length, channels, relu);
}

// The new gradient, added to the values of dx if accumulate is set, and 0 where mask <= 0.
template <int V, class T, class S>
static __device__ __forceinline__ void endGradient(T *dx, const S *added, const T *mask, long long first,
                                                   long long length, bool accumulate) {
  const long long step = (long long)gridDim.x * blockDim.x * V;
  const int pairs = inFlight / 2;  // of two arrays
  first += ((long long)blockIdx.x * blockDim.x + threadIdx.x) * V;
  for (; first < length; first += pairs * step) {
    Raw<S, V> fresh[pairs];
    Raw<T, V> held[pairs], masks[pairs];
#pragma unroll
    for (int u = 0; u < pairs; u++) {
      const long long i = first + u * step;
      if (i >= length) break;
      fresh[u] = fetch<V>(added + i);
      if (accumulate) held[u] = fetch<V>(dx + i);
      if (mask) masks[u] = fetch<V>(mask + i);
    }
#pragma unroll
    for (int u = 0; u < pairs; u++) {
      const long long i = first + u * step;
      if (i >= length) break;
      Vec<V> d = widened<V>(fresh[u]);
#pragma unroll
      for (int k = 0; k < V; k++) {
        if (accumulate) d.v[k] += widen(held[u].e[k]);
        if (mask) d.v[k] = widen(masks[u].e[k]) > 0 ? d.v[k] : 0.0f;
      }
      store<V>(dx + i, d);
    }
  }
}

template <class T, class S>
static __device__ __forceinline__ void endGradientOf(T *dx, const S *added, const T *mask, long long length,
                                                     bool accumulate) {
  const int lanes = Wide<T>::lanes;
  const long long whole = aligned(dx) && aligned(added) && aligned(mask) ? length / lanes * lanes : 0;
  endGradient<lanes>(dx, added, mask, 0, whole, accumulate);
  endGradient<1>(dx, added, mask, whole, length, accumulate);
}

// Sums the rows of dy. With a mask, dy is set to 0 where mask <= 0 and written to dx, which may be dy or
// mask.
template <int V, bool masked, class T>
static __device__ __forceinline__ void gradient(float *db, T *dx, const T *dy, const T *mask, double *partial,
                                                unsigned *tickets, long long cells, int channels, bool accumulate,
                                                columns::Scratch &shared) {
  const int rows = masked ? 2 : 4;  // loaded before the first is used; a divisor of foldAfter
  const int first = blockIdx.x * columns::tile + threadIdx.x * V;
  const long long part = (cells + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * part;
  const long long end = min(begin + part, cells) * channels, strip = (long long)blockDim.y * channels;
  double total[V] = {};
  if (first < channels) {
    for (long long at = (begin + threadIdx.y) * channels + first; at < end;) {
      float some[V] = {};
      for (int i = 0; i < columns::foldAfter && at < end; i += rows) {
        Raw<T, V> raw[rows], masks[rows];
#pragma unroll
        for (int row = 0; row < rows; row++) {
          if (at + row * strip >= end) break;
          raw[row] = fetch<V>(dy + at + row * strip);
          if (masked) masks[row] = fetch<V>(mask + at + row * strip);
        }
#pragma unroll
        for (int row = 0; row < rows; row++, at += strip) {
          if (at >= end) break;
          Vec<V> d = widened<V>(raw[row]);
          if (masked) {
#pragma unroll
            for (int k = 0; k < V; k++) d.v[k] = widen(masks[row].e[k]) > 0 ? d.v[k] : 0.0f;
            store<V>(dx + at, d);
          }
#pragma unroll
          for (int k = 0; k < V; k++) some[k] += d.v[k];
        }
      }
#pragma unroll
      for (int k = 0; k < V; k++) total[k] += (double)some[k];
    }
  }
  columns::add<V>(db, total, partial, tickets, channels, accumulate, shared);
}

template <bool masked, class T>
static __device__ __forceinline__ void gradientOf(float *db, T *dx, const T *dy, const T *mask, double *partial,
                                                  unsigned *tickets, long long cells, int channels, bool accumulate,
                                                  int lanes, columns::Scratch &shared) {
  if (lanes == 1) return gradient<1, masked>(db, dx, dy, mask, partial, tickets, cells, channels, accumulate, shared);
  gradient<Wide<T>::lanes, masked>(db, dx, dy, mask, partial, tickets, cells, channels, accumulate, shared);
}

}  // namespace conv

// y += bias, which may be null, and y = max(y, 0) if relu is not 0.
extern "C" __global__ void __launch_bounds__(256)
add_bias(float *y, const float *bias, long long length, int channels, int relu) {
  conv::addBiasTo(y, bias, length, channels, relu != 0);
}

extern "C" __global__ void __launch_bounds__(256)
add_bias_bf16(bfloat16 *y, const float *bias, long long length, int channels, int relu) {
  conv::addBiasTo(y, bias, length, channels, relu != 0);
}

// dx may be added or mask, which may be null.
extern "C" __global__ void __launch_bounds__(256)
end_gradient(float *dx, const float *added, const float *mask, long long length, int accumulate) {
  conv::endGradientOf(dx, added, mask, length, accumulate != 0);
}

extern "C" __global__ void __launch_bounds__(256)
end_gradient_bf16(bfloat16 *dx, const bfloat16 *added, const bfloat16 *mask, long long length, int accumulate) {
  conv::endGradientOf(dx, added, mask, length, accumulate != 0);
}

// cuDNN's result in bfloat16, written or added to float.
extern "C" __global__ void __launch_bounds__(256)
from_bf16(float *to, const bfloat16 *from, long long length, int accumulate) {
  conv::endGradientOf(to, from, (const float *)0, length, accumulate != 0);
}

// A float operand, rounded.
extern "C" __global__ void __launch_bounds__(256) to_bf16(bfloat16 *to, const float *from, long long length) {
  conv::endGradientOf(to, from, (const bfloat16 *)0, length, false);
}

// lanes is the channels of a thread: 1, or the channels in 16 bytes if rows of dy are at multiples of them.
// blockDim.x is 32 / lanes. partial has gridDim.y * channels doubles, tickets one counter for each tile.
extern "C" __global__ void __launch_bounds__(256, 4)
bias_gradient(float *db, const float *dy, double *partial, unsigned *tickets, long long cells, int channels,
              int accumulate, int lanes) {
  __shared__ columns::Scratch shared;
  conv::gradientOf<false>(db, (float *)0, dy, (const float *)0, partial, tickets, cells, channels, accumulate != 0,
                          lanes, shared);
}

extern "C" __global__ void __launch_bounds__(256, 4)
bias_gradient_bf16(float *db, const bfloat16 *dy, double *partial, unsigned *tickets, long long cells, int channels,
                   int accumulate, int lanes) {
  __shared__ columns::Scratch shared;
  conv::gradientOf<false>(db, (bfloat16 *)0, dy, (const bfloat16 *)0, partial, tickets, cells, channels,
                          accumulate != 0, lanes, shared);
}

// dx = dy where mask > 0, else 0, and its sums as in bias_gradient. dx may be dy or mask.
extern "C" __global__ void __launch_bounds__(256, 4)
mask_bias_gradient(float *db, float *dx, const float *dy, const float *mask, double *partial, unsigned *tickets,
                   long long cells, int channels, int accumulate, int lanes) {
  __shared__ columns::Scratch shared;
  conv::gradientOf<true>(db, dx, dy, mask, partial, tickets, cells, channels, accumulate != 0, lanes, shared);
}

extern "C" __global__ void __launch_bounds__(256, 4)
mask_bias_gradient_bf16(float *db, bfloat16 *dx, const bfloat16 *dy, const bfloat16 *mask, double *partial,
                        unsigned *tickets, long long cells, int channels, int accumulate, int lanes) {
  __shared__ columns::Scratch shared;
  conv::gradientOf<true>(db, dx, dy, mask, partial, tickets, cells, channels, accumulate != 0, lanes, shared);
}
