// Dropout of values and of gradients: y = x m / (1-rate) with the mask of Philox4x32-10.
//
// Mapping: blockIdx.y is a row of the batch, and further rows follow in steps of gridDim.y. A thread takes
// groups of 16 bytes of the row, the words of one counter or two, and loads two groups before it uses the
// first. If rows are not at multiples of 16 bytes it takes four elements one by one. Bytes an element of T
// bytes: 2 T. Word i mod 4 of counter (i/4, keys[row], 0, 0) under the key seed[0], seed[1] decides on
// element i, so that a mask depends on nothing else. y may be x. The seed lies in device memory: it changes
// from epoch to epoch, while a captured launch does not.
#include "../vector.cuh"

namespace activation {

struct Words {
  unsigned w[4];
};

// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
static __device__ __forceinline__ Words philox(unsigned counter, unsigned row, unsigned k0, unsigned k1) {
  unsigned c0 = counter, c1 = row, c2 = 0, c3 = 0;
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const unsigned low0 = 0xD2511F53u * c0, high0 = __umulhi(0xD2511F53u, c0);
    const unsigned low1 = 0xCD9E8D57u * c2, high1 = __umulhi(0xCD9E8D57u, c2);
    c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// Drop decides on the elements of a row.
struct Drop {
  unsigned key, seed0, seed1, threshold;
  float scale;

  // to are the numbers of from. The first one is element i of the row, a multiple of four.
  template <int V, class T>
  __device__ __forceinline__ void group(T *to, Vec<V> v, unsigned i) const {
#pragma unroll
    for (int k = 0; k < V; k += 4) {
      const Words words = philox((i + k) / 4, key, seed0, seed1);
#pragma unroll
      for (int n = 0; n < 4; n++) v.v[k + n] = words.w[n] < threshold ? 0.0f : v.v[k + n] * scale;
    }
    store<V>(to + i, v);
  }

  // The same for up to four elements, one by one.
  template <class T>
  __device__ __forceinline__ void single(T *to, const T *from, unsigned i, unsigned end) const {
    const Words words = philox(i / 4, key, seed0, seed1);
#pragma unroll
    for (int n = 0; n < 4; n++) {
      if (i + n < end) narrow(to[i + n], words.w[n] < threshold ? 0.0f : widen(from[i + n]) * scale);
    }
  }
};

template <class T>
static __device__ __forceinline__ void dropout(T *y, const T *x, const int *keys, const int *seed, int rows,
                                               int row, unsigned threshold, float scale) {
  const int lanes = Wide<T>::lanes;
  const unsigned end = (unsigned)row, run = blockDim.x;
  const bool wide = aligned(x) && aligned(y) && end % lanes == 0;
  for (int r = blockIdx.y; r < rows; r += gridDim.y) {
    const T *from = x + (long long)r * row;
    T *to = y + (long long)r * row;
    const Drop drop = {(unsigned)keys[r], (unsigned)seed[0], (unsigned)seed[1], threshold, scale};
    if (!wide) {
      for (unsigned q = blockIdx.x * run + threadIdx.x; q < (end + 3) / 4; q += gridDim.x * run) {
        drop.single(to, from, 4 * q, end);
      }
      continue;
    }
    const unsigned groups = end / lanes;
    for (unsigned g = 2 * blockIdx.x * run + threadIdx.x; g < groups; g += 2 * gridDim.x * run) {
      const bool second = g + run < groups;
      const Vec<lanes> a = load<lanes>(from + (long long)g * lanes);
      Vec<lanes> b = {};
      if (second) b = load<lanes>(from + (long long)(g + run) * lanes);
      drop.group(to, a, g * lanes);
      if (second) drop.group(to, b, (g + run) * lanes);
    }
  }
}

}  // namespace activation

extern "C" __global__ void __launch_bounds__(256)
dropout(float *y, const float *x, const int *keys, const int *seed, int rows, int row, unsigned threshold,
        float scale) {
  activation::dropout(y, x, keys, seed, rows, row, threshold, scale);
}

extern "C" __global__ void __launch_bounds__(256)
dropout_bf16(bfloat16 *y, const bfloat16 *x, const int *keys, const int *seed, int rows, int row, unsigned threshold,
             float scale) {
  activation::dropout(y, x, keys, seed, rows, row, threshold, scale);
}
