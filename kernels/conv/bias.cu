// What surrounds a convolution: its bias, fused with its ReLU, the end of a data or filter gradient, the
// bias gradient, and copies between float and bfloat16.
//
// Mapping of add_bias, end_gradient, from_bf16 and to_bf16: thread i takes groups of 16 bytes, i and on in
// steps of the grid; the array is one run of cells * channels elements.
//
// Mapping of bias_gradient: block (tile, part) sums the cells of its part for 32 neighbouring channels, the
// columns of reduce.cuh; thread (x, y) takes channel x, or those of 16 bytes, and cells y, y + blockDim.y,
// ..., 32 of them in float before they join a double.
#include "../reduce.cuh"
#include "../vector.cuh"

namespace conv {

template <int V, class T>
static __device__ __forceinline__ void addBias(T *y, const float *bias, long long length, int channels, bool relu) {
  const long long step = (long long)gridDim.x * blockDim.x * V;
  for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * V; i < length; i += step) {
    Vec<V> v = load<V>(y + i);
    if (bias) {
      const int channel = (int)(i % channels);
#pragma unroll
      for (int k = 0; k < V; k++) v.v[k] += bias[channel + k];
    }
#pragma unroll
    for (int k = 0; k < V; k++) v.v[k] = relu && v.v[k] <= 0 ? 0.0f : v.v[k];  // NaN stays
    store<V>(y + i, v);
  }
}

template <class T>
static __device__ __forceinline__ void addBiasTo(T *y, const float *bias, long long length, int channels, bool relu) {
  if (rowsAligned(y, channels)) return addBias<Wide<T>::lanes>(y, bias, length, channels, relu);
  addBias<1>(y, bias, length, channels, relu);
}

// The new gradient, added to what dx holds where accumulate is set, and 0 where mask <= 0.
template <int V, class T, class S>
static __device__ __forceinline__ void endGradient(T *dx, const S *added, const T *mask, long long first,
                                                   long long length, bool accumulate) {
  const long long step = (long long)gridDim.x * blockDim.x * V;
  for (long long i = first + ((long long)blockIdx.x * blockDim.x + threadIdx.x) * V; i < length; i += step) {
    Vec<V> d = load<V>(added + i);
    if (accumulate) {
      const Vec<V> held = load<V>(dx + i);
#pragma unroll
      for (int k = 0; k < V; k++) d.v[k] += held.v[k];
    }
    if (mask) {
      const Vec<V> m = load<V>(mask + i);
#pragma unroll
      for (int k = 0; k < V; k++) d.v[k] = m.v[k] > 0 ? d.v[k] : 0.0f;
    }
    store<V>(dx + i, d);
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

template <int V, class T>
static __device__ __forceinline__ void gradient(float *db, const T *dy, double *partial, unsigned *tickets,
                                                long long cells, int channels, bool accumulate,
                                                columns::Scratch &shared) {
  const int first = blockIdx.x * columns::tile + threadIdx.x * V;
  const long long part = (cells + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * part;
  const long long end = min(begin + part, cells);
  double total[V] = {};
  if (first < channels) {
    const T *from = dy + first;
    for (long long cell = begin + threadIdx.y; cell < end;) {
      float some[V] = {};
      for (int i = 0; i < columns::foldAfter && cell < end; i++, cell += blockDim.y) {
        const Vec<V> d = load<V>(from + cell * channels);
#pragma unroll
        for (int k = 0; k < V; k++) some[k] += d.v[k];
      }
#pragma unroll
      for (int k = 0; k < V; k++) total[k] += (double)some[k];
    }
  }
  columns::add<V>(db, total, partial, tickets, channels, accumulate, shared);
}

template <class T>
static __device__ __forceinline__ void gradientOf(float *db, const T *dy, double *partial, unsigned *tickets,
                                                  long long cells, int channels, bool accumulate, int lanes,
                                                  columns::Scratch &shared) {
  if (lanes == 1) return gradient<1>(db, dy, partial, tickets, cells, channels, accumulate, shared);
  gradient<Wide<T>::lanes>(db, dy, partial, tickets, cells, channels, accumulate, shared);
}

}  // namespace conv

// y += bias, which may be null, and y = max(y, 0) where relu is not 0.
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

// What cuDNN has rounded to bfloat16, written or added to float.
extern "C" __global__ void __launch_bounds__(256)
from_bf16(float *to, const bfloat16 *from, long long length, int accumulate) {
  conv::endGradientOf(to, from, (const float *)0, length, accumulate != 0);
}

// A float operand, rounded.
extern "C" __global__ void __launch_bounds__(256) to_bf16(bfloat16 *to, const float *from, long long length) {
  conv::endGradientOf(to, from, (const bfloat16 *)0, length, false);
}

// lanes is the channels of a thread: 1, or those of 16 bytes where rows of dy are at multiples of them;
// blockDim.x is 32 / lanes. partial has gridDim.y * channels doubles, tickets one counter for each tile.
extern "C" __global__ void __launch_bounds__(256)
bias_gradient(float *db, const float *dy, double *partial, unsigned *tickets, long long cells, int channels,
              int accumulate, int lanes) {
  __shared__ columns::Scratch shared;
  conv::gradientOf(db, dy, partial, tickets, cells, channels, accumulate != 0, lanes, shared);
}

extern "C" __global__ void __launch_bounds__(256)
bias_gradient_bf16(float *db, const bfloat16 *dy, double *partial, unsigned *tickets, long long cells, int channels,
                   int accumulate, int lanes) {
  __shared__ columns::Scratch shared;
  conv::gradientOf(db, dy, partial, tickets, cells, channels, accumulate != 0, lanes, shared);
}
