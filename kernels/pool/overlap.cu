// 3x3 maxima with stride 2 and padding 1 over NHWC maps, and their gradient.
//
// Mapping of the maxima: a block takes rows of windows, blockIdx.x and on in steps of gridDim.x. Its threads
// take (window, channels) in order, 16 bytes each if rows allow. If the border cuts a window, its middle row
// or column is read again, which changes no maximum.
//
// Mapping of the gradient: as for the maxima, over rows of elements. Windows overlap, so a thread visits the
// up to four windows of its element, in their order, row by row, and adds their gradients if the element is
// the first that equals the maximum. Every element is written once, and nothing is summed across threads.
// Earlier elements of a window are compared only if this one equals the maximum.
//
// Bytes, for each element of x of T bytes: maxima 1.25 T, the gradient 2.5 T. Neighbours share data through
// the caches.
#include "../vector.cuh"

namespace overlap {

// Maps are frames x height x width x channels. Windows are rows x columns.
struct Shape {
  int frames, height, width, channels, rows, columns;
};

// each calls visit(frame, row, column, channel) for the places of this thread, of rows x columns in a frame.
template <int V, class F>
static __device__ __forceinline__ void each(int frames, int rows, int columns, int channels, F visit) {
  const int groups = channels / V;
  const long long lines = (long long)frames * rows;
  for (long long line = blockIdx.x; line < lines; line += gridDim.x) {
    const int frame = (int)(line / rows), row = (int)(line - (long long)frame * rows);
    for (int i = threadIdx.x; i < columns * groups; i += blockDim.x) {
      const int column = i / groups;
      visit(frame, row, column, (i - column * groups) * V);
    }
  }
}

// larger of numbers in their type, NaN if either is.
template <class T>
static __device__ __forceinline__ T largerRaw(T a, T b) {
  return widen(a) > widen(b) || widen(a) != widen(a) ? a : b;
}

template <int V, class T>
static __device__ __forceinline__ void maxima(T *y, const T *x, const Shape &s) {
  each<V>(s.frames, s.rows, s.columns, s.channels, [&](int frame, int row, int column, int channel) {
    const long long right = s.channels, down = (long long)s.width * s.channels;
    const T *middle = x + (((long long)frame * s.height + 2 * row) * s.width + 2 * column) * s.channels + channel;
    const long long above = row > 0 ? -down : 0, below = 2 * row + 1 < s.height ? down : 0;
    const long long before = column > 0 ? -right : 0, after = 2 * column + 1 < s.width ? right : 0;
    const long long lines[3] = {above, 0, below}, places[3] = {before, 0, after};
    Raw<T, V> raw[9];
#pragma unroll
    for (int i = 0; i < 9; i++) raw[i] = loadRaw<V>(middle + lines[i / 3] + places[i % 3]);
#pragma unroll
    for (int i = 1; i < 9; i++) {
#pragma unroll
      for (int k = 0; k < V; k++) raw[0].e[k] = largerRaw(raw[0].e[k], raw[i].e[k]);
    }
    storeRaw(y + (((long long)frame * s.rows + row) * s.columns + column) * s.channels + channel, raw[0]);
  });
}

// Whether an element of the window whose middle is at row, column, before one at h, w, equals top.
template <class T>
static __device__ __forceinline__ bool taken(const T *frame, const Shape &s, int row, int column, int channel, int h,
                                             int w, float top) {
  for (int i = max(0, row - 1); i <= h; i++) {
    const int end = i < h ? min(column + 2, s.width) : w;
    for (int j = max(0, column - 1); j < end; j++) {
      if (widen(frame[((long long)i * s.width + j) * s.channels + channel]) == top) return true;
    }
  }
  return false;
}

template <int V, class T>
static __device__ __forceinline__ void gradient(T *dx, const T *dy, const T *x, const T *y, const Shape &s, bool relu) {
  each<V>(s.frames, s.height, s.width, s.channels, [&](int frame, int h, int w, int channel) {
    const T *map = x + (long long)frame * s.height * s.width * s.channels;
    const long long at = (((long long)frame * s.height + h) * s.width + w) * s.channels + channel;
    const Raw<T, V> own = loadRaw<V>(x + at);
    Vec<V> sum = {};
    for (int row = h / 2; row <= (h + 1) / 2 && row < s.rows; row++) {
      for (int column = w / 2; column <= (w + 1) / 2 && column < s.columns; column++) {
        const long long window = (((long long)frame * s.rows + row) * s.columns + column) * s.channels + channel;
        const Raw<T, V> top = loadRaw<V>(y + window), g = loadRaw<V>(dy + window);
#pragma unroll
        for (int k = 0; k < V; k++) {
          const float most = widen(top.e[k]);
          if (widen(own.e[k]) != most || (relu && !(most > 0))) continue;
          if (!taken(map, s, 2 * row, 2 * column, channel + k, h, w, most)) sum.v[k] += widen(g.e[k]);
        }
      }
    }
    store<V>(dx + at, sum);
  });
}

template <class T>
static __device__ __forceinline__ void maxPool(T *y, const T *x, const Shape &s) {
  if (rowsAligned(x, s.channels) && rowsAligned(y, s.channels)) return maxima<Wide<T>::lanes>(y, x, s);
  maxima<1>(y, x, s);
}

template <class T>
static __device__ __forceinline__ void maxPoolGradient(T *dx, const T *dy, const T *x, const T *y, const Shape &s,
                                                       bool relu) {
  if (rowsAligned(dx, s.channels) && rowsAligned(dy, s.channels) && rowsAligned(x, s.channels) &&
      rowsAligned(y, s.channels)) {
    return gradient<Wide<T>::lanes>(dx, dy, x, y, s, relu);
  }
  gradient<1>(dx, dy, x, y, s, relu);
}

}  // namespace overlap

// y[t,p,q,c] = max of x over the window; rows and columns are halves rounded up.
extern "C" __global__ void __launch_bounds__(256)
max_pool3(float *y, const float *x, int frames, int height, int width, int channels) {
  overlap::maxPool(y, x, {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2});
}

extern "C" __global__ void __launch_bounds__(256)
max_pool3_bf16(bfloat16 *y, const bfloat16 *x, int frames, int height, int width, int channels) {
  overlap::maxPool(y, x, {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2});
}

extern "C" __global__ void __launch_bounds__(256)
max_pool3_gradient(float *dx, const float *dy, const float *x, const float *y, int frames, int height, int width,
                   int channels, int relu) {
  overlap::maxPoolGradient(dx, dy, x, y, {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2},
                           relu != 0);
}

extern "C" __global__ void __launch_bounds__(256)
max_pool3_gradient_bf16(bfloat16 *dx, const bfloat16 *dy, const bfloat16 *x, const bfloat16 *y, int frames, int height,
                        int width, int channels, int relu) {
  overlap::maxPoolGradient(dx, dy, x, y, {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2},
                           relu != 0);
}
