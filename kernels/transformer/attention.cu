// Multi-head self-attention by blocks of queries and keys, with the running maximum and sum of each query: no logits
// leave the multiprocessor.
//
// Mapping: block (tile, head, picture) has 8 warps and takes 32 queries of a head; blocks of 32 keys, and then their
// values, come through shared memory. A warp has four queries. Of the logits lane i computes those of key i; maximum and
// sum of a query are taken over the lanes of its warp as a tree. Of the output lane i holds numbers i, i + 32, ... of each
// query in registers. Sums are float: over the numbers of a head in ascending order, then over keys in ascending order.
//
// Bytes: queries, keys, values and output once, if keys and values of a head stay in the second-level cache while its
// tiles of queries come by. Products are those of the float pipes; tensor cores are not used.
#include "../vector.cuh"

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

// fill takes up to 32 lines of width numbers, a stride apart, to shared memory, scaled; lines beyond count are 0.
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
    __syncthreads();  // nobody reads the keys any more
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

}  // namespace attention

extern "C" __global__ void __launch_bounds__(256)
attention_64(float *y, const float *qkv, int tokens, int heads, int width, float scale) {
  attention::run<float, 64>(y, qkv, tokens, heads, width, scale);
}

extern "C" __global__ void __launch_bounds__(256)
attention_64_bf16(bfloat16 *y, const bfloat16 *qkv, int tokens, int heads, int width, float scale) {
  attention::run<bfloat16, 64>(y, qkv, tokens, heads, width, scale);
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
