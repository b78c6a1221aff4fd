// The noise step: multiple-instance learning over ragged bags, the 2x2 softmax of the confidences, the
// transformation to p(z), loss, posterior, and the gradients of all logits and of O, in one launch.
//
// Mapping, layout and the order of sums over instances: bag.cuh. Logits are read once if a thread has at most
// bag::Instances::kept instances. The rest is read again for the gradient. Each class is decided in double by
// one thread (decide.cuh). The loss of a bag is the sum over the classes of each tile as a tree, then over
// the tiles in ascending order, by the last block of the bag.
#include "../reduce.cuh"
#include "bag.cuh"
#include "decide.cuh"

namespace noise {

// The bag's sum of softplus below which the ratios p_s/p are taken in logarithms: far below it p_s
// underflows in float though p_s/p does not.
const double tinyBag = 1e-15;

// An unknown label.
const float unknown = -1;

struct Step {
  const float *logits, *confidence, *labels, *weights;
  const int *offsets;
  float *loss, *dLogits, *dO, *prob, *observed, *posterior, *bagLogit;
  double *partial;
  unsigned *tickets;
  int bags, frames, cells, classes, perBag, mil, evidence;
  float scale;
  Focus focus;
};

// Shared memory of a block.
struct Scratch {
  double sums[bag::maxSums];
  double logit[bag::maxTile];  // of the bag; pass two subtracts it in a tiny bag
  double loss[bag::maxTile];
  float factor[bag::maxTile];
  bool tiny[bag::maxTile];
  bool last;
};

// The weight of a bag is 1 if there are none.
static __device__ __forceinline__ double weightOf(const Step &s, int bag) {
  return s.weights ? (double)s.weights[bag] : 1;
}

static __device__ __forceinline__ Decision decide(const Step &s, int bag, int k, double b) {
  const bool labelled = s.labels != 0;
  const float z = labelled ? s.labels[(long long)bag * s.classes + k] : 0;
  if (!s.confidence) {
    // Evidence of 0, or an unknown label, decides nothing.
    if (s.evidence) return z == 0 ? decideUnknown(b) : decideEvidence(b, z);
    const bool plain = s.focus.positive == 0 && s.focus.negative == 0 && s.focus.margin == 0;
    return z == unknown ? decideUnknown(b) : plain ? decideClean(b, z) : decideFocused(b, z, s.focus);
  }
  const float *o = s.confidence + (s.perBag ? (long long)bag * 4 * s.classes : 0) + k;
  const double a0 = (double)o[2 * s.classes] - (double)o[0];
  const double a1 = (double)o[3 * s.classes] - (double)o[s.classes];
  if (!labelled) return observe(b, a0, a1);
  return z == unknown ? decideUnknownNoisy(b, a0, a1) : decideNoisy(b, a0, a1, z != 0);
}

static __device__ __forceinline__ void write(const Step &s, int bag, int k, double b, const Decision &d) {
  const long long at = (long long)bag * s.classes + k;
  if (s.prob) s.prob[at] = (float)d.p;
  if (s.observed) s.observed[at] = (float)d.observed;
  if (s.posterior) s.posterior[at] = (float)d.posterior;
  if (s.bagLogit) s.bagLogit[at] = (float)b;
  if (s.dO) {
    const double scale = s.scale * weightOf(s, bag);
    for (int i = 0; i < 4; i++) s.dO[((long long)bag * 4 + i) * s.classes + k] = (float)(scale * d.dO[i]);
  }
}

// logSumExp puts log sum exp(o_s) of every class into logit, if the bag is tiny: p is that sum and 1-p is 1.
// All threads of the block call.
template <int V>
static __device__ __forceinline__ void logSumExp(const bag::Tile &t, const bag::Instances<V> &instances, Scratch &shared) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  double value[V];
  for (int i = 0; i < V; i++) value[i] = -INFINITY;
  instances.again(t, [&](const Vec<V> &o, long long) {
    for (int i = 0; i < V; i++) value[i] = fmax(value[i], (double)o.v[i]);
  });
  bag::join<V>(t, value, shared.sums, bag::Larger());
  for (int c = thread; c < t.width; c += threads) {
    if (shared.tiny[c]) shared.logit[c] = bag::joined(t, shared.sums, c, bag::Larger());
  }
  __syncthreads();
  for (int i = 0; i < V; i++) value[i] = 0;
  instances.again(t, [&](const Vec<V> &o, long long) {
    for (int i = 0; i < V; i++) value[i] += (double)expf((float)((double)o.v[i] - shared.logit[t.own + i]));
  });
  bag::join<V>(t, value, shared.sums, bag::Plus());
  for (int c = thread; c < t.width; c += threads) {
    if (shared.tiny[c]) shared.logit[c] += log(bag::joined(t, shared.sums, c, bag::Plus()));
  }
  __syncthreads();
}

// pool leaves the logit of the bag in shared memory, for every class of the tile.
template <int V>
static __device__ __forceinline__ void pool(const Step &s, const bag::Tile &t, const bag::Instances<V> &instances,
                                            Scratch &shared) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  if (s.mil) {
    bag::Softplus<V> sum;
    instances.each(t, [&](const Vec<V> &o, long long) { sum.add(o); }, [&] { sum.fold(); });
    bag::join<V>(t, sum.total, shared.sums, bag::Plus());
  } else {
    bag::Linear<V> sum;
    instances.each(t, [&](const Vec<V> &o, long long) { sum.add(o); });
    bag::join<V>(t, sum.total, shared.sums, bag::Plus());
  }
  bool tiny = false;
  for (int c = thread; c < t.width; c += threads) {
    const double sum = bag::joined(t, shared.sums, c, bag::Plus());
    shared.tiny[c] = s.mil && t.first + c < s.classes && sum < tinyBag;
    shared.logit[c] = s.mil ? sum + log(-expm1(-sum)) : sum / t.rows;
    tiny = tiny || shared.tiny[c];
  }
  if (__syncthreads_or(tiny)) logSumExp<V>(t, instances, shared);
}

// spread turns the gradient of the bag's logit into the gradients of the instances: share * p_s / p, or share
// over their number.
template <int V>
static __device__ __forceinline__ void spread(const Step &s, const bag::Tile &t, const bag::Instances<V> &instances,
                                              const Scratch &shared) {
  float *out = s.dLogits + t.begin + (long long)t.strip * s.classes;
  if (!t.active) return;
  Vec<V> factor;
  bool tiny = false;
  for (int i = 0; i < V; i++) {
    factor.v[i] = shared.factor[t.own + i];
    tiny = tiny || shared.tiny[t.own + i];
  }
  if (!s.mil) {
    instances.again(t, [&](const Vec<V> &, long long place) { store<V>(out + place, factor); });
  } else if (!tiny) {
    instances.each(t, [&](const Vec<V> &o, long long place) {
      Vec<V> d;
#pragma unroll
      for (int i = 0; i < V; i++) d.v[i] = factor.v[i] * bag::sigmoid(o.v[i]);
      store<V>(out + place, d);
    });
  } else {
    instances.again(t, [&](const Vec<V> &o, long long place) {
      Vec<V> d;
      for (int i = 0; i < V; i++) {
        // Of a tiny bag the largest exponent is 0 but for rounding.
        const float ratio = fminf((float)((double)o.v[i] - shared.logit[t.own + i]), 0.0f);
        d.v[i] = factor.v[i] * (shared.tiny[t.own + i] ? expf(ratio) : bag::sigmoid(o.v[i]));
      }
      store<V>(out + place, d);
    });
  }
}

// addLosses writes the loss of a bag when its last tile is done.
static __device__ __forceinline__ void addLosses(const Step &s, const bag::Tile &t, Scratch &shared) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, tiles = gridDim.x / s.bags;
  double *partial = s.partial + (long long)t.bag * tiles;
  if (thread < 32) {
    double sum = 0;
    for (int c = thread; c < t.width; c += 32) sum += shared.loss[c];
    sum = warpSum(sum);
    if (thread == 0) partial[blockIdx.x - t.bag * tiles] = sum;
  }
  if (!lastBlock(s.tickets + t.bag, tiles, &shared.last)) return;
  if (thread < 32) {
    double sum = 0;
    for (int i = thread; i < tiles; i += 32) sum += partial[i];
    sum = warpSum(sum);
    if (thread == 0) s.loss[t.bag] = (float)(weightOf(s, t.bag) * sum);
  }
}

template <int V>
static __device__ __forceinline__ void step(const Step &s, Scratch &shared) {
  const bag::Tile t = bag::tileOf<V>(s.offsets, s.bags, s.frames, s.cells, s.classes);
  const bag::Instances<V> instances(t, s.logits, s.classes);
  pool<V>(s, t, instances, shared);
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  for (int c = thread; c < t.width; c += threads) {
    const int k = t.first + c;
    if (k >= s.classes) {
      shared.loss[c] = 0;
      continue;
    }
    const double b = shared.logit[c];
    const Decision d = decide(s, t.bag, k, b);
    write(s, t.bag, k, b, d);
    const double share = s.scale * weightOf(s, t.bag) * d.dLogit;
    shared.factor[c] = (float)(shared.tiny[c] ? share : s.mil ? share / d.p : share / t.rows);
    shared.loss[c] = d.loss;
  }
  __syncthreads();
  if (s.dLogits) spread<V>(s, t, instances, shared);
  if (s.loss) addLosses(s, t, shared);
}

}  // namespace noise

// Four classes a thread: classes is a multiple of 4, logits and dLogits are at multiples of 16 bytes.
extern "C" __global__ void __launch_bounds__(bag::maxThreads, 1)
noise_step_wide(const float *logits, const float *confidence, const float *labels, const float *weights,
                const int *offsets, float *loss, float *dLogits, float *dO, float *prob, float *observed,
                float *posterior, float *bagLogit, double *partial, unsigned *tickets, int bags, int frames, int cells,
                int classes, int perBag, int mil, int evidence, float scale, float positive, float negative,
                float margin) {
  __shared__ noise::Scratch shared;
  noise::step<4>({logits, confidence, labels, weights, offsets, loss, dLogits, dO, prob, observed, posterior, bagLogit,
                  partial, tickets, bags, frames, cells, classes, perBag, mil, evidence, scale,
                  {positive, negative, margin}},
                 shared);
}

// One class a thread, for any number and place.
extern "C" __global__ void __launch_bounds__(bag::maxThreads)
noise_step(const float *logits, const float *confidence, const float *labels, const float *weights,
           const int *offsets, float *loss, float *dLogits, float *dO, float *prob, float *observed, float *posterior,
           float *bagLogit, double *partial, unsigned *tickets, int bags, int frames, int cells, int classes, int perBag,
           int mil, int evidence, float scale, float positive, float negative, float margin) {
  __shared__ noise::Scratch shared;
  noise::step<1>({logits, confidence, labels, weights, offsets, loss, dLogits, dO, prob, observed, posterior, bagLogit,
                  partial, tickets, bags, frames, cells, classes, perBag, mil, evidence, scale,
                  {positive, negative, margin}},
                 shared);
}
