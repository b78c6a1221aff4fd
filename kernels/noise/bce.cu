// Binary cross-entropy on logits, bag by bag: loss[n] = sum over classes of softplus(o) - z o, and gradient =
// scale (sigmoid(o) - z), both in forms that do not cancel.
//
// Mapping: block n is bag n. Thread i takes classes i, i + blockDim.x, ... The loss is summed in double,
// classes of a thread in ascending order, then as in blockSum. gradient may be o. Bytes a class: 8, and 4 for
// the gradient.
#include "../reduce.cuh"

extern "C" __global__ void __launch_bounds__(256)
bce(float *loss, float *gradient, const float *o, const float *z, int classes, float scale) {
  __shared__ double scratch[32];
  const long long row = (long long)blockIdx.x * classes;
  double sum = 0;
  for (int k = threadIdx.x; k < classes; k += blockDim.x) {
    const float logit = o[row + k], target = z[row + k];
    const float e = expf(-fabsf(logit)), large = 1.0f / (1.0f + e), small = e * large;
    const float p = logit >= 0 ? large : small, q = logit >= 0 ? small : large;
    // (1-z) softplus(o) + z softplus(-o)
    sum += (double)((logit >= 0 ? 1.0f - target : target) * fabsf(logit)) + (double)log1pf(e);
    if (gradient) gradient[row + k] = scale * ((1.0f - target) * p - target * q);
  }
  if (!loss) return;
  sum = blockSum(sum, scratch);
  if (threadIdx.x == 0) loss[blockIdx.x] = (float)sum;
}
