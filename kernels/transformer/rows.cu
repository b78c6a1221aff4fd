// Operations on rows, or on each number: layer norm, the steps after the product of a linear layer, tokens,
// and patches as rows.
#include "../reduce.cuh"
#include "../vector.cuh"

namespace transformer {

const int threads = 256;

// One row, by a warp: a lane takes V neighbouring numbers at a time. It sums the differences from the first
// number of the row, in double: within a lane in ascending order, then as in warpSum. A mean that is large
// compared with the deviation costs no digits, and equal numbers have a variance of 0.
template <int V, class T>
static __device__ __forceinline__ void normRow(T *to, const T *from, const float *gain, const float *bias, int width,
                                               float epsilon) {
  const int lane = threadIdx.x % 32 * V, step = 32 * V;
  const double first = (double)widen(from[0]);
  double sum = 0, squares = 0;
  for (int i = lane; i < width; i += step) {
    const Vec<V> x = load<V>(from + i);
#pragma unroll
    for (int k = 0; k < V; k++) {
      const double d = (double)x.v[k] - first;
      sum += d;
      squares += d * d;
    }
  }
  sum = warpSum(sum);
  squares = warpSum(squares);
  const double shift = sum / width, mean = first + shift;
  double variance = squares / width - shift * shift;
  if (variance < 0) variance = 0;
  const float high = (float)mean, low = (float)(mean - (double)high), inverse = (float)(1 / sqrt(variance + (double)epsilon));
  for (int i = lane; i < width; i += step) {
    Vec<V> x = load<V>(from + i);
#pragma unroll
    for (int k = 0; k < V; k++) x.v[k] = ((x.v[k] - high) - low) * inverse * gain[i + k] + bias[i + k];
    store<V>(to + i, x);
  }
}

// Mapping: warp m of the grid takes row m, and on in steps of the grid. Bytes a number of T bytes: 2 T. The
// second read comes from the first-level cache.
template <class T>
static __device__ __forceinline__ void layerNorm(T *y, const T *x, const float *gain, const float *bias, long long rows,
                                                 int width, float epsilon) {
  const long long warps = blockDim.x / 32, step = gridDim.x * warps;
  const bool wide = rowsAligned(y, width) && rowsAligned(x, width);
  for (long long m = blockIdx.x * warps + threadIdx.x / 32; m < rows; m += step) {
    if (wide) {
      normRow<Wide<T>::lanes>(y + m * width, x + m * width, gain, bias, width, epsilon);
    } else {
      normRow<1>(y + m * width, x + m * width, gain, bias, width, epsilon);
    }
  }
}

// GELU by its kind: none, exact, tanh, quick.
static __device__ __forceinline__ float gelu(float x, int kind) {
  if (kind == 1) return 0.5f * x * erfcf(-0.70710678f * x);
  if (kind == 2) return x / (1.0f + expf(-x * (1.5957691f + 0.07135481f * x * x)));
  if (kind == 3) return x / (1.0f + expf(-1.702f * x));
  return x;
}

// One element of follow. r and scale may be null.
template <class T, int V>
static __device__ __forceinline__ void followAt(T *y, const T *x, const T *r, const float *scale, long long at, int width,
                                                int kind) {
  Vec<V> v = load<V>(x + at), add;
  if (r) add = load<V>(r + at);
  const int column = (int)(at % width);
#pragma unroll
  for (int k = 0; k < V; k++) {
    float value = gelu(v.v[k], kind);
    if (scale) value *= scale[column + k];
    if (r) value += add.v[k];
    v.v[k] = value;
  }
  store<V>(y + at, v);
}

// y = r + scale * gelu(x). Mapping: thread i takes 16 bytes, i and on in steps of the grid, if rows allow,
// else numbers. Bytes a number of T bytes: 2 T, and T for an added one.
template <class T>
static __device__ __forceinline__ void follow(T *y, const T *x, const T *r, const float *scale, long long length, int width,
                                              int kind) {
  const int lanes = Wide<T>::lanes;
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x, step = (long long)gridDim.x * blockDim.x;
  const bool wide = rowsAligned(y, width) && rowsAligned(x, width) && (!r || rowsAligned(r, width));
  if (wide) {
    for (long long i = first; i < length / lanes; i += step) followAt<T, lanes>(y, x, r, scale, i * lanes, width, kind);
  } else {
    for (long long i = first; i < length; i += step) followAt<T, 1>(y, x, r, scale, i, width, kind);
  }
}

// Mapping: thread i takes numbers i, i + threads of the grid, ... of the output. Bytes a number of T bytes: 2 T, and 4 for
// its position, which stays in the second-level cache.
template <class T>
static __device__ __forceinline__ void tokens(T *y, const T *patches, const float *before, const float *position,
                                              long long pictures, int prefix, int count, int width) {
  const long long row = (long long)(prefix + count) * width, head = (long long)prefix * width;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < pictures * row; i += step) {
    const long long picture = i / row, at = i - picture * row;
    float value;
    if (at < head) {
      value = before[at];
    } else {
      value = widen(patches[picture * (row - head) + at - head]);
      if (position) value += position[at - head];
    }
    narrow(y[i], value);
  }
}

// Patches of patch × patch pixels as rows, line after line of a patch. Mapping: as tokens. Bytes a number of T bytes: 2 T.
template <class T>
static __device__ __forceinline__ void patchRows(T *y, const T *x, long long length, int width, int channels, int patch) {
  const int line = patch * channels, across = width / patch;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < length; i += step) {
    // The output is bands of patches × patches of a band × lines × numbers of a line.
    const int within = (int)(i % line);
    const long long lines = i / line;
    const int r = (int)(lines % patch);
    const long long patches = lines / patch;
    const int column = (int)(patches % across);
    const long long band = patches / across;
    y[i] = x[((band * patch + r) * width + (long long)column * patch) * channels + within];
  }
}

}  // namespace transformer

// y may be x.
extern "C" __global__ void __launch_bounds__(256)
layer_norm(float *y, const float *x, const float *gain, const float *bias, long long rows, int width, float epsilon) {
  transformer::layerNorm(y, x, gain, bias, rows, width, epsilon);
}

extern "C" __global__ void __launch_bounds__(256)
layer_norm_bf16(bfloat16 *y, const bfloat16 *x, const float *gain, const float *bias, long long rows, int width, float epsilon) {
  transformer::layerNorm(y, x, gain, bias, rows, width, epsilon);
}

// y may be x or r.
extern "C" __global__ void __launch_bounds__(256)
follow(float *y, const float *x, const float *r, const float *scale, long long length, int width, int kind) {
  transformer::follow(y, x, r, scale, length, width, kind);
}

extern "C" __global__ void __launch_bounds__(256)
follow_bf16(bfloat16 *y, const bfloat16 *x, const bfloat16 *r, const float *scale, long long length, int width, int kind) {
  transformer::follow(y, x, r, scale, length, width, kind);
}

extern "C" __global__ void __launch_bounds__(256)
tokens(float *y, const float *patches, const float *before, const float *position, long long pictures, int prefix, int count,
       int width) {
  transformer::tokens(y, patches, before, position, pictures, prefix, count, width);
}

extern "C" __global__ void __launch_bounds__(256)
tokens_bf16(bfloat16 *y, const bfloat16 *patches, const float *before, const float *position, long long pictures, int prefix,
            int count, int width) {
  transformer::tokens(y, patches, before, position, pictures, prefix, count, width);
}

extern "C" __global__ void __launch_bounds__(256)
patch_rows(float *y, const float *x, long long length, int width, int channels, int patch) {
  transformer::patchRows(y, x, length, width, channels, patch);
}

extern "C" __global__ void __launch_bounds__(256)
patch_rows_bf16(bfloat16 *y, const bfloat16 *x, long long length, int width, int channels, int patch) {
  transformer::patchRows(y, x, length, width, channels, patch);
}
