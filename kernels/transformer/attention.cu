// Multi-head self-attention by blocks of queries and keys, with the running maximum and sum of each query: no
// logits leave the multiprocessor.
//
// Tensor cores compute bfloat16 heads of up to 64 numbers, a multiple of 8, as in every vision transformer.
// Block (tile, head, picture) has 4 warps of 16 queries each, which stay in registers. Blocks of 64 keys and
// their values come to shared memory while the earlier ones are in use. A lane has the logits of two queries,
// whose maximum it shares with three others. The weights, rounded to bfloat16, are an operand of the product
// with the values, directly from its registers. Sums are float.
//
// The float pipes compute everything else. Block (tile, head, picture) has 8 warps and takes 32 queries of a
// head. Blocks of 32 keys, and then their values, come through shared memory. A warp has four queries. Lane i
// computes the logits of key i. Maximum and sum of a query are taken over the lanes of its warp as a tree.
// Lane i holds numbers i, i + 32, ... of the output of each query in registers. Sums are float: over the
// numbers of a head in ascending order, then over keys in ascending order.
//
// Bytes: queries, keys, values and output once, if keys and values of a head stay in the second-level cache
// while its tiles of queries come by.
#include "../mma.cuh"

namespace attention {

const int tile = 32;                // queries, and keys
const int warps = 8;                // of a block
const int own = tile / warps;       // queries of a warp
const unsigned all = 0xffffffffu;

// Numbers a line of shared memory: odd, so that 32 lanes that read one number each of 32 lines meet no bank twice.
template <int W>
struct Shared {
  float queries[tile][W];
  float lines[tile][W + 1];  // keys, then values
  float weights[tile][tile];
};

static __device__ __forceinline__ float warpLargest(float v) {
  for (int step = 16; step > 0; step >>= 1) v = larger(v, __shfl_xor_sync(all, v, step));
  return v;
}

static __device__ __forceinline__ float warpTotal(float v) {
  for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(all, v, step);
  return v;
}

// fill copies up to 32 lines of width numbers, a stride apart, to shared memory, scaled. Lines beyond count
// are 0.
template <class T, int S>
static __device__ __forceinline__ void fill(float (*to)[S], const T *from, long long stride, int count, int width,
                                            float scale) {
  for (int line = threadIdx.x >> 5; line < tile; line += warps)
    for (int i = threadIdx.x & 31; i < width; i += 32)
      to[line][i] = line < count ? widen(from[line * stride + i]) * scale : 0.0f;
}

// W is a multiple of 32 that the width of a head does not exceed.
// Not static: nvcc would name its shared memory by a random number, and the module would differ from build to build.
template <class T, int W>
__device__ __forceinline__ void run(T *y, const T *qkv, int tokens, int heads, int width, float scale) {
  __shared__ Shared<W> shared;
  const int lane = threadIdx.x & 31, row = (threadIdx.x >> 5) * own, first = blockIdx.x * tile;
  const long long d = (long long)heads * width, stride = 3 * d;
  const T *at = qkv + (long long)blockIdx.z * tokens * stride + blockIdx.y * width;
  fill(shared.queries, at + first * stride, stride, tokens - first, width, scale);
  float out[own][W / 32], top[own], sum[own];
#pragma unroll
  for (int q = 0; q < own; q++) {
    top[q] = __uint_as_float(0xff800000u);  // -infinity
    sum[q] = 0;
#pragma unroll
    for (int c = 0; c < W / 32; c++) out[q][c] = 0;
  }
  for (int key = 0; key < tokens; key += tile) {
    const int keys = tokens - key < tile ? tokens - key : tile;
    fill(shared.lines, at + d + key * stride, stride, keys, width, 1.0f);
    __syncthreads();
    float logit[own] = {};
    for (int i = 0; i < width; i++) {
      const float k = shared.lines[lane][i];
#pragma unroll
      for (int q = 0; q < own; q++) logit[q] += shared.queries[row + q][i] * k;
    }
#pragma unroll
    for (int q = 0; q < own; q++) {
      const float v = lane < keys ? logit[q] : __uint_as_float(0xff800000u);
      const float high = larger(top[q], warpLargest(v)), factor = expf(top[q] - high), weight = expf(v - high);
      shared.weights[row + q][lane] = weight;
      sum[q] = sum[q] * factor + warpTotal(weight);
      top[q] = high;
#pragma unroll
      for (int c = 0; c < W / 32; c++) out[q][c] *= factor;
    }
    __syncthreads();  // all threads have read the keys
    fill(shared.lines, at + 2 * d + key * stride, stride, keys, width, 1.0f);
    __syncthreads();
    for (int k = 0; k < keys; k++) {
#pragma unroll
      for (int c = 0; c < W / 32; c++) {
        const int column = 32 * c + lane;
        const float v = column < width ? shared.lines[k][column] : 0.0f;
#pragma unroll
        for (int q = 0; q < own; q++) out[q][c] += shared.weights[row + q][k] * v;
      }
    }
    __syncthreads();  // before the next keys
  }
#pragma unroll
  for (int q = 0; q < own; q++) {
    const int query = first + row + q;
    if (query >= tokens) break;
#pragma unroll
    for (int c = 0; c < W / 32; c++) {
      const int column = 32 * c + lane;
      if (column < width) narrow(y[((long long)blockIdx.z * tokens + query) * d + blockIdx.y * width + column], out[q][c] / sum[q]);
    }
  }
}

// Keys and values for tensor cores. A line has 32 words, two numbers each, and 4 more so that eight lines meet no bank
// twice.
const int lines = 64, lineWords = 36;

struct alignas(16) Lines {
  unsigned keys[2][lines][lineWords], values[2][lines][lineWords];
};

// begin begins to copy lines a stride apart. Numbers beyond count lines or the width of a head are 0.
static __device__ __forceinline__ void begin(unsigned (*to)[lineWords], const bfloat16 *from, long long stride, int count,
                                             int width) {
  for (int i = threadIdx.x; i < lines * 8; i += blockDim.x) {
    const int line = i / 8, column = i % 8 * 8;
    const bool inside = line < count && column < width;
    mma::copy(&to[line][column / 2], inside ? from + line * stride + column : from, inside);
  }
}

// Largest or total of the four lanes that have a query.
static __device__ __forceinline__ float fourLargest(float v) {
  v = larger(v, __shfl_xor_sync(all, v, 1));
  return larger(v, __shfl_xor_sync(all, v, 2));
}

static __device__ __forceinline__ float fourTotal(float v) {
  v += __shfl_xor_sync(all, v, 1);
  return v + __shfl_xor_sync(all, v, 2);
}

}  // namespace attention

extern "C" __global__ void __launch_bounds__(256)
attention_64(float *y, const float *qkv, int tokens, int heads, int width, float scale) {
  attention::run<float, 64>(y, qkv, tokens, heads, width, scale);
}

extern "C" __global__ void __launch_bounds__(128)
attention_64_bf16(bfloat16 *y, const bfloat16 *qkv, int tokens, int heads, int width, float scale) {
  using namespace attention;
  __shared__ Lines shared;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;  // as in mma.cuh
  const int row = blockIdx.x * lines + threadIdx.x / 32 * 16 + g;
  const long long d = (long long)heads * width, stride = 3 * d;
  const bfloat16 *at = qkv + (long long)blockIdx.z * tokens * stride + blockIdx.y * width;
  begin(shared.keys[0], at + d, stride, tokens, width);
  begin(shared.values[0], at + 2 * d, stride, tokens, width);
  unsigned query[4][4];
#pragma unroll
  for (int step = 0; step < 4; step++) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const int of = row + k % 2 * 8, column = 16 * step + 2 * t + k / 2 * 8;
      query[step][k] = of < tokens && column < width ? *reinterpret_cast<const unsigned *>(at + of * stride + column) : 0;
    }
  }
  const float binary = scale * 1.44269504f;  // exponentials are powers of two
  float out[8][4] = {}, sum[2] = {}, top[2];
  top[0] = top[1] = __uint_as_float(0xff800000u);  // -infinity
  int turn = 0;
  for (int key = 0; key < tokens; key += lines, turn ^= 1) {
    mma::arrived();
    __syncthreads();  // keys and values are there, and the ones before are no longer read
    const int next = key + lines;
    if (next < tokens) {
      begin(shared.keys[turn ^ 1], at + d + next * stride, stride, tokens - next, width);
      begin(shared.values[turn ^ 1], at + 2 * d + next * stride, stride, tokens - next, width);
    }
    float logit[8][4] = {};
#pragma unroll
    for (int step = 0; step < 4; step++) {
#pragma unroll
      for (int n = 0; n < 8; n++) {
        const unsigned *line = &shared.keys[turn][8 * n + g][8 * step + t], b[2] = {line[0], line[4]};
        mma::multiply(logit[n], query[step], b);
      }
    }
    if (next > tokens) {
#pragma unroll
      for (int n = 0; n < 8; n++) {
#pragma unroll
        for (int k = 0; k < 4; k++)
          if (key + 8 * n + 2 * t + k % 2 >= tokens) logit[n][k] = __uint_as_float(0xff800000u);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; half++) {  // queries row and row + 8
      float high = top[half];
#pragma unroll
      for (int n = 0; n < 8; n++) high = larger(high, larger(logit[n][2 * half], logit[n][2 * half + 1]));
      high = fourLargest(high);
      const float factor = exp2f((top[half] - high) * binary);
      top[half] = high;
      sum[half] *= factor;
#pragma unroll
      for (int n = 0; n < 8; n++) {
#pragma unroll
        for (int k = 2 * half; k < 2 * half + 2; k++) {
          logit[n][k] = exp2f((logit[n][k] - high) * binary);
          sum[half] += logit[n][k];
          out[n][k] *= factor;
        }
      }
    }
#pragma unroll
    for (int step = 0; step < 4; step++) {
      unsigned weights[4];
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const float *two = &logit[2 * step + k / 2][k % 2 * 2];
        weights[k] = mma::pair(two[0], two[1], false);
      }
#pragma unroll
      for (int n = 0; n < 8; n += 2) {
        unsigned four[4];
        mma::columns(four, &shared.values[turn][16 * step][4 * n], lineWords);
        const unsigned low[2] = {four[0], four[1]}, high[2] = {four[2], four[3]};
        mma::multiply(out[n], weights, low);
        mma::multiply(out[n + 1], weights, high);
      }
    }
  }
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const float total = fourTotal(sum[half]);
    const int of = row + 8 * half;
#pragma unroll
    for (int n = 0; n < 8; n++) {
      const int column = 8 * n + 2 * t;
      if (of < tokens && column < width)
        *reinterpret_cast<unsigned *>(y + ((long long)blockIdx.z * tokens + of) * d + blockIdx.y * width + column) =
            mma::pair(out[n][2 * half] / total, out[n][2 * half + 1] / total, false);
    }
  }
}

// Heads of up to 160 numbers.
extern "C" __global__ void __launch_bounds__(256)
attention_160(float *y, const float *qkv, int tokens, int heads, int width, float scale) {
  attention::run<float, 160>(y, qkv, tokens, heads, width, scale);
}

extern "C" __global__ void __launch_bounds__(256)
attention_160_bf16(bfloat16 *y, const bfloat16 *qkv, int tokens, int heads, int width, float scale) {
  attention::run<bfloat16, 160>(y, qkv, tokens, heads, width, scale);
}
