// Access to arrays in device memory: 16 bytes a thread where alignment allows, one element otherwise.
// Elements are float or bfloat16 in memory and float in registers.
#pragma once

// bfloat16 is the upper half of a float.
struct bfloat16 {
  unsigned short bits;
};

static __device__ __forceinline__ float widen(float x) { return x; }
static __device__ __forceinline__ float widen(bfloat16 x) { return __uint_as_float((unsigned)x.bits << 16); }

static __device__ __forceinline__ void narrow(float &out, float x) { out = x; }

// Rounds to nearest, ties to even; NaN stays NaN.
static __device__ __forceinline__ void narrow(bfloat16 &out, float x) {
  unsigned bits = __float_as_uint(x);
  if (x != x) {
    out.bits = (unsigned short)(bits >> 16 | 0x40);
  } else {
    out.bits = (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
}

// Vec is V neighbouring elements in registers.
template <int V>
struct Vec {
  float v[V];
};

// Raw is V neighbouring elements in memory, moved by one instruction for each 16 bytes.
template <class T, int V>
struct alignas(V * sizeof(T) < 16 ? V * sizeof(T) : 16) Raw {
  T e[V];
};

// Numbers as they are in memory, for what only chooses among them: nothing is rounded.
template <int V, class T>
static __device__ __forceinline__ Raw<T, V> loadRaw(const T *from) {
  return *reinterpret_cast<const Raw<T, V> *>(from);
}

template <class T, int V>
static __device__ __forceinline__ void storeRaw(T *to, const Raw<T, V> &raw) {
  *reinterpret_cast<Raw<T, V> *>(to) = raw;
}

template <int V, class T>
static __device__ __forceinline__ Vec<V> load(const T *from) {
  const Raw<T, V> raw = *reinterpret_cast<const Raw<T, V> *>(from);
  Vec<V> x;
#pragma unroll
  for (int i = 0; i < V; i++) x.v[i] = widen(raw.e[i]);
  return x;
}

template <int V, class T>
static __device__ __forceinline__ void store(T *to, const Vec<V> &x) {
  Raw<T, V> raw;
#pragma unroll
  for (int i = 0; i < V; i++) narrow(raw.e[i], x.v[i]);
  *reinterpret_cast<Raw<T, V> *>(to) = raw;
}

// The elements that 16 bytes hold.
template <class T>
struct Wide {
  static const int lanes = 16 / sizeof(T);
};

// Whether rows of this number of elements, the first one at p, all begin at multiples of 16 bytes.
template <class T>
static __device__ __forceinline__ bool rowsAligned(const T *p, long long row) {
  return (reinterpret_cast<unsigned long long>(p) & 15) == 0 && row % Wide<T>::lanes == 0;
}

// Whether p is at a multiple of 16 bytes.
template <class T>
static __device__ __forceinline__ bool aligned(const T *p) {
  return (reinterpret_cast<unsigned long long>(p) & 15) == 0;
}

// The larger of two numbers, NaN where either is.
static __device__ __forceinline__ float larger(float a, float b) { return a > b || a != a ? a : b; }
