// A step of an LSTM layer and its gradient, without the products with the recurrent weights, which cuDNN
// computes before. Gates are in the order i, f, g, o.
//
// Mapping: thread i takes units i, i + gridDim.x * blockDim.x, ... of all sequences, row-major. Each unit
// belongs to one thread, with its four gates, so that no order matters. Bytes a unit: 60 for a step (16 each
// of gates read, products and gates written, 4 each of before, c and h), 56 for its gradient, 12 an element
// for add.

namespace lstm {

static __device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

}  // namespace lstm

// gates holds rows of 4 * hidden pre-activations without the part of h, which is in products. products and
// before, the cells of the previous step, may be none. Activations replace the gates.
extern "C" __global__ void __launch_bounds__(256)
lstm_gates(float *gates, const float *products, const float *before, float *c, float *h, int units, int hidden) {
  for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < units; at += (long long)gridDim.x * blockDim.x) {
    const long long row = at / hidden, first = row * 4 * hidden + at % hidden;
    // All is loaded before the first store, because the compiler could move no load across it.
    const float old = before ? before[at] : 0.0f;
    float a[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const long long gate = first + (long long)k * hidden;
      a[k] = gates[gate] + (products ? products[gate] : 0.0f);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      a[k] = k == 2 ? tanhf(a[k]) : lstm::sigmoid(a[k]);
      gates[first + (long long)k * hidden] = a[k];
    }
    const float cell = a[1] * old + a[0] * a[2];
    c[at] = cell;
    h[at] = a[3] * tanhf(cell);
  }
}

// gates holds activations and gets the gradients of the pre-activations. carried is the gradient that h gets
// from the next step, and dc is the cell's, which becomes the gradient of the cell before. carried and before
// may be none.
extern "C" __global__ void __launch_bounds__(256)
lstm_gates_gradient(float *gates, const float *dh, const float *carried, const float *before, const float *c, float *dc, int units,
                    int hidden) {
  for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < units; at += (long long)gridDim.x * blockDim.x) {
    const long long first = at / hidden * 4 * hidden + at % hidden, step = hidden;
    const float i = gates[first], f = gates[first + step], g = gates[first + 2 * step], o = gates[first + 3 * step];
    const float total = dh[at] + (carried ? carried[at] : 0.0f), t = tanhf(c[at]);
    const float cell = dc[at] + total * o * (1.0f - t * t);
    gates[first] = cell * g * i * (1.0f - i);
    gates[first + step] = cell * (before ? before[at] : 0.0f) * f * (1.0f - f);
    gates[first + 2 * step] = cell * i * (1.0f - g * g);
    gates[first + 3 * step] = total * t * o * (1.0f - o);
    dc[at] = cell * f;
  }
}

// dst = dst + src.
extern "C" __global__ void __launch_bounds__(256) add(float *dst, const float *src, long long length) {
  for (long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x; at < length; at += (long long)gridDim.x * blockDim.x) {
    dst[at] += src[at];
  }
}
