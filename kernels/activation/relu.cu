// ReLU and its gradient, element by element.
//
// Mapping: thread i takes elements in groups of 16 bytes, i and on in steps of the grid. Elements after the
// last whole group are taken one by one, and so are all of them if an array is not at a multiple of 16 bytes.
// A block takes batch neighbouring runs of blockDim.x groups. A thread has its groups of all runs under way
// at once. Bytes an element of T bytes: 2 T for values, 3 T for gradients.
#include "../vector.cuh"

namespace activation {

const int batch = 2;  // groups that a thread loads before it uses the first

// each calls op.use(place, op.template load<V>(place)) for all elements, V of them from each place.
template <class T, class Op>
static __device__ __forceinline__ void each(long long length, bool aligned, const Op &op) {
  const int lanes = Wide<T>::lanes;
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
  const long long groups = aligned ? length / lanes : 0, run = blockDim.x;
  for (long long i = blockIdx.x * run * batch + threadIdx.x; i < groups; i += step * batch) {
    if (i + (batch - 1) * run < groups) {
      decltype(op.template load<lanes>(i)) held[batch];
#pragma unroll
      for (int k = 0; k < batch; k++) held[k] = op.template load<lanes>((i + k * run) * lanes);
#pragma unroll
      for (int k = 0; k < batch; k++) op.use((i + k * run) * lanes, held[k]);
      continue;
    }
#pragma unroll 1
    for (long long j = i; j < groups; j += run) op.use(j * lanes, op.template load<lanes>(j * lanes));
  }
#pragma unroll 1
  for (long long i = groups * lanes + first; i < length; i += step) op.use(i, op.template load<1>(i));
}

template <class T>
struct Clamp {
  T *y;
  const T *x;

  template <int V>
  __device__ __forceinline__ Vec<V> load(long long i) const {
    return ::load<V>(x + i);
  }
  template <int V>
  __device__ __forceinline__ void use(long long i, Vec<V> v) const {
#pragma unroll
    for (int k = 0; k < V; k++) v.v[k] = v.v[k] <= 0 ? 0.0f : v.v[k];  // NaN stays
    store<V>(y + i, v);
  }
};

template <int V>
struct Masked {
  Vec<V> dy, y;
};

template <class T>
struct Mask {
  T *dx;
  const T *dy, *y;

  template <int V>
  __device__ __forceinline__ Masked<V> load(long long i) const {
    return {::load<V>(dy + i), ::load<V>(y + i)};
  }
  template <int V>
  __device__ __forceinline__ void use(long long i, Masked<V> m) const {
#pragma unroll
    for (int k = 0; k < V; k++) m.dy.v[k] = m.y.v[k] > 0 ? m.dy.v[k] : 0.0f;
    store<V>(dx + i, m.dy);
  }
};

template <class T>
static __device__ __forceinline__ void relu(T *y, const T *x, long long length) {
  each<T>(length, aligned(y) && aligned(x), Clamp<T>{y, x});
}

template <class T>
static __device__ __forceinline__ void reluGradient(T *dx, const T *dy, const T *y, long long length) {
  each<T>(length, aligned(dx) && aligned(dy) && aligned(y), Mask<T>{dx, dy, y});
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
extern "C" __global__ void __launch_bounds__(256, 4)
relu_gradient(float *dx, const float *dy, const float *y, long long length) {
  activation::reluGradient(dx, dy, y, length);
}

extern "C" __global__ void __launch_bounds__(256, 4)
relu_gradient_bf16(bfloat16 *dx, const bfloat16 *dy, const bfloat16 *y, long long length) {
  activation::reluGradient(dx, dy, y, length);
}
