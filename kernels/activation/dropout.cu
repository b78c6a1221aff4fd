// Dropout, values and gradients alike: y = x m / (1-rate) with the mask of Philox4x32-10.
//
// Mapping: blockIdx.y is a row of the batch, and on in steps of gridDim.y; a thread takes groups of four
// elements of the row, the words of one counter. Word i mod 4 of counter (i/4, keys[row], 0, 0) under the
// key seed[0], seed[1] decides on element i, so that a mask depends on nothing else. y may be x. The seed
// lies in device memory: it changes from epoch to epoch, while a captured launch does not.
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

template <class T>
static __device__ __forceinline__ void dropout(T *y, const T *x, const int *keys, const int *seed, int rows,
                                               int row, unsigned threshold, float scale) {
  const unsigned seed0 = (unsigned)seed[0], seed1 = (unsigned)seed[1];
  const bool wide = aligned(x) && aligned(y) && row % 4 == 0;
  for (int r = blockIdx.y; r < rows; r += gridDim.y) {
    const T *from = x + (long long)r * row;
    T *to = y + (long long)r * row;
    const unsigned key = (unsigned)keys[r];
    for (unsigned group = blockIdx.x * blockDim.x + threadIdx.x; group < ((unsigned)row + 3) / 4;
         group += gridDim.x * blockDim.x) {
      const Words words = philox(group, key, seed0, seed1);
      const long long i = (long long)group * 4;
      if (wide) {
        Vec<4> v = load<4>(from + i);
#pragma unroll
        for (int k = 0; k < 4; k++) v.v[k] = words.w[k] < threshold ? 0.0f : v.v[k] * scale;
        store<4>(to + i, v);
        continue;
      }
#pragma unroll
      for (int k = 0; k < 4; k++) {
        if (i + k >= row) continue;
        narrow(to[i + k], words.w[k] < threshold ? 0.0f : widen(from[i + k]) * scale);
      }
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
