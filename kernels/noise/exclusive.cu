// The noise step of classes that exclude each other: the mean of a bag's instances, softmax, transition matrix,
// loss, posterior and gradient, in one launch and in double.
//
// Mapping: block n is bag n. Thread i takes classes i, i + blockDim.x, ... A thread adds its classes in ascending
// order, then the threads are added as in blockSum. Each class of the label is one pass over the classes. work
// has four doubles for each class of each bag: logit, p, gradient and posterior. Bytes a logit: 4, and 4 for its
// gradient. The matrix is read by columns, which is one column for a bag with one label.
#include "../reduce.cuh"

namespace exclusive {

const int threads = 128;

// An unknown label.
const float unknown = -1;

struct Scratch {
  double sums[32], values[threads];
  int indices[threads];
  double sum;
};

// sumAll adds over the threads. All threads of the block call, and all get the sum.
static __device__ __forceinline__ double sumAll(double v, Scratch &shared) {
  __syncthreads();
  v = blockSum(v, shared.sums);
  if (threadIdx.x == 0) shared.sum = v;
  __syncthreads();
  return shared.sum;
}

// largest finds the largest value over the threads, the first index of equal ones, into element 0.
static __device__ __forceinline__ void largest(double value, int index, Scratch &shared) {
  __syncthreads();
  shared.values[threadIdx.x] = value, shared.indices[threadIdx.x] = index;
  for (int step = threads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) {
      const double other = shared.values[threadIdx.x + step];
      const int at = shared.indices[threadIdx.x + step];
      if (other > shared.values[threadIdx.x] ||
          (other == shared.values[threadIdx.x] && at < shared.indices[threadIdx.x])) {
        shared.values[threadIdx.x] = other, shared.indices[threadIdx.x] = at;
      }
    }
  }
  __syncthreads();
}

// nats is -log p. rest is 1-p, which keeps its digits if it is small.
static __device__ __forceinline__ double nats(double p, double rest) {
  return rest < 0.5 ? -log1p(-rest) : -log(p);
}

}  // namespace exclusive

// transition, labels, weights and all outputs may be null. Frame offsets out of range are clamped.
extern "C" __global__ void __launch_bounds__(exclusive::threads)
exclusive_step(const float *logits, const float *transition, const float *labels, const float *weights,
               const int *offsets, float *loss, float *dLogits, float *prob, float *observed, float *posterior,
               float *bagLogit, double *work, int frames, int cells, int classes, float scale) {
  __shared__ exclusive::Scratch shared;
  const int bag = blockIdx.x, step = blockDim.x;
  int lo = bag, hi = bag + 1;
  if (offsets) {
    lo = min(max(offsets[bag], 0), frames);
    hi = min(max(offsets[bag + 1], lo), frames);
  }
  const long long begin = (long long)lo * cells * classes, row = (long long)bag * classes;
  const int rows = (hi - lo) * cells;
  double *o = work + 4 * row, *p = o + classes, *d = p + classes, *rho = d + classes;

  double best = -INFINITY;
  int top = classes;
  for (int k = threadIdx.x; k < classes; k += step) {
    double sum = 0;
    for (int i = 0; i < rows; i++) sum += (double)logits[begin + (long long)i * classes + k];
    o[k] = sum / rows;
    if (o[k] > best) best = o[k], top = k;
  }
  exclusive::largest(best, top, shared);
  top = min(shared.indices[0], classes - 1);
  double second = -INFINITY;
  for (int k = threadIdx.x; k < classes; k += step) {
    if (k != top) second = fmax(second, o[k]);
  }
  exclusive::largest(second, 0, shared);
  second = shared.values[0];
  double others = 0;
  for (int k = threadIdx.x; k < classes; k += step) {
    if (k != top) others += exp(o[k] - second);
  }
  others = exclusive::sumAll(others, shared);
  const double most = o[top], rest = others * exp(second - most), total = 1 + rest;

  bool gap = false;
  for (int k = threadIdx.x; k < classes; k += step) {
    const double e = exp(o[k] - most);
    p[k] = (k == top ? 1 : e) / total;
    d[k] = 0, rho[k] = 0;
    if (prob) prob[row + k] = (float)p[k];
    if (bagLogit) bagLogit[row + k] = (float)(k == top ? most - second - log(others) : o[k] - most - log1p(rest - e));
    gap = gap || (labels && labels[row + k] == exclusive::unknown);
  }
  gap = __syncthreads_or(gap);

  double sum = 0;
  for (int k = 0; labels && !gap && k < classes; k++) {
    const double z = labels[row + k];
    if (z == 0) continue;
    if (!transition) {
      for (int y = threadIdx.x; y < classes; y += step) {
        const double e = exp(o[y] - most);
        d[y] += z * (y != k ? p[y] : -(k == top ? rest : 1 + (rest - e)) / total);
        if (y == k) rho[y] += z;
      }
      sum += z * (most - o[k] + log1p(rest));
      continue;
    }
    const double reference = transition[(long long)top * classes + k];
    double seen = 0, miss = 0, difference = 0;
    for (int y = threadIdx.x; y < classes; y += step) {
      const double hit = transition[(long long)y * classes + k];
      seen += p[y] * hit, miss += p[y] * (1 - hit), difference += p[y] * (hit - reference);
    }
    seen = exclusive::sumAll(seen, shared);
    miss = exclusive::sumAll(miss, shared);
    difference = exclusive::sumAll(difference, shared);
    for (int y = threadIdx.x; y < classes; y += step) {
      const double hit = transition[(long long)y * classes + k];
      d[y] += z * p[y] * ((reference - hit) + difference) / seen;
      rho[y] += z * p[y] * hit / seen;
    }
    sum += z * exclusive::nats(seen, miss);
  }
  __syncthreads();
  const double weight = weights ? (double)weights[bag] : 1;
  if (loss && threadIdx.x == 0) loss[bag] = (float)(weight * (gap ? 0 * p[0] : sum));
  for (int k = threadIdx.x; k < classes; k += step) {
    if (posterior) posterior[row + k] = (float)(gap ? p[k] : rho[k]);
    if (dLogits) {
      const float g = (float)(scale * weight / rows * (gap ? 0 * p[k] : d[k]));
      for (int i = 0; i < rows; i++) dLogits[begin + (long long)i * classes + k] = g;
    }
    if (observed) {
      double seen = transition ? 0 : p[k];
      for (int y = 0; transition && y < classes; y++) seen += p[y] * (double)transition[(long long)y * classes + k];
      observed[row + k] = (float)seen;
    }
  }
}
