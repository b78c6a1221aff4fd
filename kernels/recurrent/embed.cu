// Rows of a table by their words, and the gradient of the table. A word below 0 is none. A word beyond the
// table cannot be refused here and gives NaN, and no gradient.

// Mapping: block m, and those gridDim.x further, take row m; thread i takes its numbers i, i + blockDim.x, ...
// Bytes a number: 8.
extern "C" __global__ void __launch_bounds__(256)
embed(float *y, const float *table, const int *words, int rows, int width, int vocabulary) {
  for (long long m = blockIdx.x; m < rows; m += gridDim.x) {
    const int word = words[m];
    for (int d = threadIdx.x; d < width; d += blockDim.x) {
      float value = 0.0f;
      if (word >= vocabulary) value = nanf("");
      else if (word >= 0) value = table[(long long)word * width + d];
      y[m * width + d] = value;
    }
  }
}

// Mapping: block v, and those gridDim.x further, take row v of the table. Its threads compare blockDim.x
// words at a time. If one of them is v, thread i adds the numbers i, i + blockDim.x, ... of those rows in
// ascending order. No other block writes them: no atomics are needed.
extern "C" __global__ void __launch_bounds__(128)
embed_gradient(float *dtable, const float *dy, const int *words, int rows, int width, int vocabulary) {
  for (int v = blockIdx.x; v < vocabulary; v += gridDim.x) {
    float *to = dtable + (long long)v * width;
    for (int d = threadIdx.x; d < width; d += blockDim.x) to[d] = 0.0f;
    for (int begin = 0; begin < rows; begin += blockDim.x) {
      const int own = begin + threadIdx.x;
      if (!__syncthreads_or(own < rows && words[own] == v)) continue;
      const int end = min(begin + (int)blockDim.x, rows);
      for (int m = begin; m < end; m++) {
        if (words[m] != v) continue;
        for (int d = threadIdx.x; d < width; d += blockDim.x) to[d] += dy[(long long)m * width + d];
      }
    }
  }
}
