// ReLU and its gradient, element by element.
//
// Mapping: thread i takes elements in groups of 16 bytes, i and on in steps of the grid; elements past the
// last whole group, and all of them where an array is not at a multiple of 16 bytes, are taken one by one.
#include "../vector.cuh"

namespace activation {

// each calls wide(place) for groups of 16 bytes and one(place) for the rest.
template <class T, class F, class G>
static __device__ __forceinline__ void each(long long length, bool aligned, F wide, G one) {
  const int lanes = Wide<T>::lanes;
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
  const long long groups = aligned ? length / lanes : 0;
  for (long long i = first; i < groups; i += step) wide(i * lanes);
  for (long long i = groups * lanes + first; i < length; i += step) one(i);
}

template <int V, class T>
static __device__ __forceinline__ void clamp(T *y, const T *x) {
  Vec<V> v = load<V>(x);
#pragma unroll
  for (int i = 0; i < V; i++) v.v[i] = v.v[i] <= 0 ? 0.0f : v.v[i];  // NaN stays
  store<V>(y, v);
}

template <int V, class T>
static __device__ __forceinline__ void mask(T *dx, const T *dy, const T *y) {
  Vec<V> d = load<V>(dy);
  const Vec<V> out = load<V>(y);
#pragma unroll
  for (int i = 0; i < V; i++) d.v[i] = out.v[i] > 0 ? d.v[i] : 0.0f;
  store<V>(dx, d);
}

template <class T>
static __device__ __forceinline__ void relu(T *y, const T *x, long long length) {
  const int lanes = Wide<T>::lanes;
  each<T>(length, aligned(y) && aligned(x), [&](long long i) { clamp<lanes>(y + i, x + i); },
          [&](long long i) { clamp<1>(y + i, x + i); });
}

template <class T>
static __device__ __forceinline__ void reluGradient(T *dx, const T *dy, const T *y, long long length) {
  const int lanes = Wide<T>::lanes;
  each<T>(length, aligned(dx) && aligned(dy) && aligned(y), [&](long long i) { mask<lanes>(dx + i, dy + i, y + i); },
          [&](long long i) { mask<1>(dx + i, dy + i, y + i); });
}

}  // namespace activation

// y may be x.
extern "C" __global__ void __launch_bounds__(256) relu(float *y, const float *x, long long length) {
  activation::relu(y, x, length);
}

extern "C" __global__ void __launch_bounds__(256) relu_bf16(bfloat16 *y, const bfloat16 *x, long long length) {
  activation::relu(y, x, length);
}

// dx may be dy or y.
extern "C" __global__ void __launch_bounds__(256)
relu_gradient(float *dx, const float *dy, const float *y, long long length) {
  activation::reluGradient(dx, dy, y, length);
}

extern "C" __global__ void __launch_bounds__(256)
relu_gradient_bf16(bfloat16 *dx, const bfloat16 *dy, const bfloat16 *y, long long length) {
  activation::reluGradient(dx, dy, y, length);
}
