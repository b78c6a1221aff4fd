// The end of a residual block after a convolution without bias: bias, shortcut and ReLU in one pass.
//
// Mapping: a thread takes groups of 16 bytes if rows allow, one element otherwise, in steps of the grid.
// Bytes, for each element of T bytes: 3 T.
#include "../vector.cuh"

namespace shortcut {

template <int V, class T>
static __device__ __forceinline__ void add(T *y, const T *sums, const float *bias, const T *other, long long length,
                                           int channels, bool relu) {
  const long long step = (long long)gridDim.x * blockDim.x * V;
  for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * V; i < length; i += step) {
    Vec<V> v = load<V>(sums + i);
    const Vec<V> o = load<V>(other + i);
    const int channel = (int)(i % channels);
#pragma unroll
    for (int k = 0; k < V; k++) {
      if (bias) v.v[k] += bias[channel + k];
      v.v[k] += o.v[k];
      v.v[k] = relu && v.v[k] <= 0 ? 0.0f : v.v[k];  // NaN stays
    }
    store<V>(y + i, v);
  }
}

template <class T>
static __device__ __forceinline__ void addTo(T *y, const T *sums, const float *bias, const T *other, long long length,
                                             int channels, bool relu) {
  if (rowsAligned(y, channels) && rowsAligned(sums, channels) && rowsAligned(other, channels)) {
    return add<Wide<T>::lanes>(y, sums, bias, other, length, channels, relu);
  }
  add<1>(y, sums, bias, other, length, channels, relu);
}

}  // namespace shortcut

// y = sums + bias + other, clamped at 0 if relu is not 0. y may be either of them. bias may be null.
extern "C" __global__ void __launch_bounds__(256)
add_shortcut(float *y, const float *sums, const float *bias, const float *other, long long length, int channels,
             int relu) {
  shortcut::addTo(y, sums, bias, other, length, channels, relu != 0);
}

extern "C" __global__ void __launch_bounds__(256)
add_shortcut_bf16(bfloat16 *y, const bfloat16 *sums, const float *bias, const bfloat16 *other, long long length,
                  int channels, int relu) {
  shortcut::addTo(y, sums, bias, other, length, channels, relu != 0);
}
