// A softmax over a vocabulary whose logits are there for a block of words at a time. cuDNN computes the
// logits, and the contributions of their gradients to weights and rows. Rows whose target is below 0 are left
// out: their gradients are 0 whatever they hold. A target beyond the vocabulary gives NaN.
//
// Mapping: block m is row m of the logits. Thread i takes words i, i + blockDim.x, ... Sums are in double: a
// thread's in ascending order, then as in blockSum, then block of words after block of words. The gradient of
// the bias is the columns of reduce.cuh.
//
// Bytes a logit: 4 for its part in top and sum, because its row of 8 kB is in the first-level cache for the
// second read. 8 for its gradient. 4 for the gradient of its bias. The biases of a block of words stay in
// caches.
#include "../reduce.cuh"
#include "../vector.cuh"

namespace softmax {

const int threads = 256;
const int batch = 4;  // words that a thread loads before it uses the first

// The largest over the threads of a block, NaN if one is. scratch is 33 floats of shared memory. All threads
// get it.
static __device__ __forceinline__ float blockLargest(float v, float *scratch) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int step = 16; step > 0; step >>= 1) v = larger(v, __shfl_xor_sync(0xffffffffu, v, step));
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < (int)blockDim.x >> 5; i++) v = larger(v, scratch[i]);
    scratch[32] = v;
  }
  __syncthreads();
  return scratch[32];
}

}  // namespace softmax

// logits is M × words without biases. top and sum are the largest logit and the sum of exp(logit - top) of
// the earlier words, and are updated with these. target is set if it is among them. first is the number of
// the first word.
extern "C" __global__ void __launch_bounds__(softmax::threads)
softmax_block(const float *logits, const float *bias, const int *targets, float *top, double *sum, float *target, int words, int first) {
  __shared__ float largest[33];
  __shared__ double scratch[32];
  const int m = blockIdx.x;
  const float *row = logits + (long long)m * words;
  float high = __uint_as_float(0xff800000u);
  for (int v = threadIdx.x; v < words; v += blockDim.x) high = larger(high, row[v] + bias[first + v]);
  high = softmax::blockLargest(high, largest);
  const float before = first > 0 ? top[m] : high;
  high = larger(high, before);
  double total = 0;
  for (int v = threadIdx.x; v < words; v += blockDim.x) total += (double)expf(row[v] + bias[first + v] - high);
  total = blockSum(total, scratch);
  if (threadIdx.x != 0) return;
  if (first > 0) total += sum[m] * (double)expf(before - high);
  top[m] = high;
  sum[m] = total;
  const int word = targets[m] - first;
  if (word >= 0 && word < words) target[m] = row[word] + bias[first + word];
}

// One thread a row: loss = log sum - (target - top).
extern "C" __global__ void __launch_bounds__(softmax::threads)
softmax_loss(float *loss, const float *top, const double *sum, const float *target, const int *targets, int rows, int vocabulary) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= rows) return;
  const int word = targets[m];
  float value = 0.0f;
  if (word >= vocabulary) value = nanf("");
  else if (word >= 0) value = (float)(log(sum[m]) - (double)(target[m] - top[m]));
  loss[m] = value;
}

// Logits become their gradients. A target's gradient is computed from its own logit: if the probability is
// near 1, subtracting 1 from it would leave few digits.
extern "C" __global__ void __launch_bounds__(softmax::threads)
softmax_gradient(float *logits, const float *bias, const float *top, const double *sum, const int *targets, int words, int first,
                 int vocabulary, float scale) {
  const int m = blockIdx.x, target = targets[m];
  float *row = logits + (long long)m * words;
  const float high = top[m], factor = (float)((double)scale / sum[m]);
  // Several logits are loaded before the first is written, because the compiler could move no load across a
  // store.
  for (int v = threadIdx.x; v < words; v += softmax::batch * blockDim.x) {
    float shifted[softmax::batch];
#pragma unroll
    for (int k = 0; k < softmax::batch; k++) {
      const int at = v + k * blockDim.x;
      shifted[k] = at < words ? row[at] + bias[first + at] - high : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < softmax::batch; k++) {
      const int at = v + k * blockDim.x;
      if (at >= words) break;
      float d = expf(shifted[k]) * factor;
      if (first + at == target) d = scale * (float)expm1((double)shifted[k] - log(sum[m]));
      if (target < 0) d = 0.0f;
      if (target >= vocabulary) d = nanf("");
      row[at] = d;
    }
  }
}

// db of a block of words: block (tile, part) adds the rows of its part, in double, for the columns of its tile.
// partial has gridDim.y * words doubles, tickets one counter for each tile.
extern "C" __global__ void __launch_bounds__(softmax::threads)
softmax_bias_gradient(float *db, const float *gradients, double *partial, unsigned *tickets, int rows, int words) {
  __shared__ columns::Scratch shared;
  const int v = blockIdx.x * columns::tile + threadIdx.x;
  const int part = (rows + gridDim.y - 1) / gridDim.y, begin = blockIdx.y * part, end = min(begin + part, rows);
  double total = 0;
  if (v < words) {
#pragma unroll 4
    for (int m = begin + threadIdx.y; m < end; m += blockDim.y) total += (double)gradients[(long long)m * words + v];
  }
  columns::add<1>(db, &total, partial, tickets, words, false, shared);
}

// The rows with a target, and 0 for the others, whose contents must not reach a product. Block m is row m.
extern "C" __global__ void __launch_bounds__(softmax::threads)
softmax_rows(float *kept, const float *h, const int *targets, int width) {
  const long long m = blockIdx.x;
  const bool none = targets[m] < 0;
  for (int d = threadIdx.x; d < width; d += blockDim.x) kept[m * width + d] = none ? 0.0f : h[m * width + d];
}

// x = x - log sum of exp(x) for each row, in place.
extern "C" __global__ void __launch_bounds__(softmax::threads) log_softmax(float *x, int words) {
  __shared__ float largest[33];
  __shared__ double scratch[32];
  __shared__ float norm;
  float *row = x + (long long)blockIdx.x * words;
  float high = __uint_as_float(0xff800000u);
  for (int v = threadIdx.x; v < words; v += blockDim.x) high = larger(high, row[v]);
  high = softmax::blockLargest(high, largest);
  double sum = 0;
  for (int v = threadIdx.x; v < words; v += blockDim.x) sum += (double)expf(row[v] - high);
  sum = blockSum(sum, scratch);
  if (threadIdx.x == 0) norm = (float)log(sum);
  __syncthreads();
  for (int v = threadIdx.x; v < words; v += blockDim.x) row[v] = row[v] - high - norm;
}
