// 2x2 maxima with stride 2 over NHWC maps in ceil mode, and their gradient. The gradient has the mask of the ReLU
// below fused in and, if wanted, the gradient of the bias of the convolution below that.
//
// Mapping: a block takes rows of windows, blockIdx.x and on in steps of gridDim.x. Its threads take (window,
// channels) in order, so that neighbouring threads touch neighbouring channels, 16 bytes each if rows allow.
// Every element of a gradient is written by the one thread of its window. Nothing is summed across threads. A
// thread has all loads of a window under way at once, 4 of them for maxima and 5 for a gradient.
//
// Bytes, for each element of x of T bytes: maxima 1.25 T (x once, a quarter as many results), gradients 2.5 T (x
// and dx, a quarter each of y and dy). Nothing is read twice.
//
// Mapping with the gradient of the bias: block (tile, part) takes the windows of its part, in the order of y,
// for 32 neighbouring channels, the columns of reduce.cuh. Thread (x, y) takes channel x, or the channels in
// 16 bytes, and windows y, y + blockDim.y, ... It adds 32 of them in float before they join a double.
#include "../reduce.cuh"
#include "../vector.cuh"

namespace pool {

// Maps are frames x height x width x channels. Windows are rows x columns, cut off at the border.
struct Shape {
  int frames, height, width, channels, rows, columns;
};

// Window is the place of one window's elements and output.
struct Window {
  long long corner, output;  // its upper left element
  int right, down;           // steps to the neighbours; 0 if the border cuts
};

// The window at a place of its row of windows, line, which counts the rows of all frames; channels from
// channel on. Lines of 32 bits are divided faster.
template <class N>
static __device__ __forceinline__ Window windowAt(const Shape &s, N line, int column, int channel) {
  const int frame = (int)(line / s.rows), row = (int)(line - (N)frame * s.rows);
  Window w;
  w.corner = (((long long)frame * s.height + 2 * row) * s.width + 2 * column) * s.channels + channel;
  w.output = ((long long)line * s.columns + column) * s.channels + channel;
  w.right = 2 * column + 1 < s.width ? s.channels : 0;
  w.down = 2 * row + 1 < s.height ? s.width * s.channels : 0;
  return w;
}

// each calls visit(window) for the windows and channel groups of this thread.
template <int V, class F>
static __device__ __forceinline__ void each(const Shape &s, F visit) {
  const int groups = s.channels / V;
  const long long lines = (long long)s.frames * s.rows;
  for (long long line = blockIdx.x; line < lines; line += gridDim.x) {
    for (int i = threadIdx.x; i < s.columns * groups; i += blockDim.x) {
      const int column = i / groups;
      visit(windowAt(s, line, column, (i - column * groups) * V));
    }
  }
}

// larger of numbers as they are in memory.
template <class T>
static __device__ __forceinline__ T largerRaw(T a, T b) {
  return widen(a) > widen(b) || widen(a) != widen(a) ? a : b;
}

template <int V, class T>
static __device__ __forceinline__ void maxima(T *y, const T *x, const Shape &s) {
  each<V>(s, [&](const Window &w) {
    const Raw<T, V> a = loadRaw<V>(x + w.corner), b = loadRaw<V>(x + w.corner + w.right);
    const Raw<T, V> c = loadRaw<V>(x + w.corner + w.down), d = loadRaw<V>(x + w.corner + w.down + w.right);
    Raw<T, V> top;
#pragma unroll
    for (int i = 0; i < V; i++) top.e[i] = largerRaw(largerRaw(a.e[i], b.e[i]), largerRaw(c.e[i], d.e[i]));
    storeRaw(y + w.output, top);
  });
}

// The first element, row by row, that equals the maximum gets the gradient, which is returned, 0 if none
// flows. Gradients are only moved, and keep their bits in memory. Stores go from last to first. If a cut
// window names an element twice, the first name's value stays, and the second name never is the first to
// equal the maximum.
template <int V, class T>
static __device__ __forceinline__ Raw<T, V> scatter(T *dx, const T *dy, const T *x, const T *y, const Window &w,
                                                    bool relu) {
  const Raw<T, V> a = loadRaw<V>(x + w.corner), b = loadRaw<V>(x + w.corner + w.right);
  const Raw<T, V> c = loadRaw<V>(x + w.corner + w.down), y0 = loadRaw<V>(y + w.output);
  Raw<T, V> g = loadRaw<V>(dy + w.output), da, db, dc, dd;
  const T zero = {};
#pragma unroll
  for (int i = 0; i < V; i++) {
    const float top = widen(y0.e[i]);
    const bool isA = widen(a.e[i]) == top, isB = !isA && widen(b.e[i]) == top;
    const bool isC = !isA && !isB && widen(c.e[i]) == top;
    if (relu && !(top > 0)) g.e[i] = zero;
    da.e[i] = isA ? g.e[i] : zero;
    db.e[i] = isB ? g.e[i] : zero;
    dc.e[i] = isC ? g.e[i] : zero;
    dd.e[i] = !isA && !isB && !isC ? g.e[i] : zero;
  }
  storeRaw(dx + w.corner + w.down + w.right, dd);
  storeRaw(dx + w.corner + w.down, dc);
  storeRaw(dx + w.corner + w.right, db);
  storeRaw(dx + w.corner, da);
  return g;
}

template <int V, class T>
static __device__ __forceinline__ void maximaGradient(T *dx, const T *dy, const T *x, const T *y, const Shape &s,
                                                      bool relu) {
  each<V>(s, [&](const Window &w) { scatter<V>(dx, dy, x, y, w, relu); });
}

// The gradient, and its sum over all cells, which equals the sum of the windows' gradients: no element of dx
// is read.
template <int V, class T>
static __device__ __forceinline__ void maximaGradientBias(T *dx, float *db, const T *dy, const T *x, const T *y,
                                                          double *partial, unsigned *tickets, const Shape &s,
                                                          bool relu, bool accumulate, columns::Scratch &shared) {
  const int channel = blockIdx.x * columns::tile + threadIdx.x * V;
  const unsigned windows = (unsigned)s.frames * s.rows * s.columns, part = (windows + gridDim.y - 1) / gridDim.y;
  const unsigned begin = min(blockIdx.y * part, windows), end = min(begin + part, windows);
  volatile double *total = columns::own<V>(shared);  // volatile, so that it does not take the few registers
#pragma unroll
  for (int k = 0; k < V; k++) total[k] = 0;
  if (channel < s.channels) {
    for (unsigned i = begin + threadIdx.y; i < end;) {
      float some[V] = {};
      for (int n = 0; n < columns::foldAfter && i < end; n++, i += blockDim.y) {
        const unsigned line = i / s.columns;
        const Raw<T, V> g = scatter<V>(dx, dy, x, y, windowAt(s, line, (int)(i - line * s.columns), channel), relu);
#pragma unroll
        for (int k = 0; k < V; k++) some[k] += widen(g.e[k]);
      }
#pragma unroll
      for (int k = 0; k < V; k++) total[k] = total[k] + (double)some[k];
    }
  }
  columns::join(db, partial, tickets, s.channels, accumulate, shared);
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
    return maximaGradient<Wide<T>::lanes>(dx, dy, x, y, s, relu);
  }
  maximaGradient<1>(dx, dy, x, y, s, relu);
}

template <class T>
static __device__ __forceinline__ void maxPoolGradientBias(T *dx, float *db, const T *dy, const T *x, const T *y,
                                                           double *partial, unsigned *tickets, const Shape &s,
                                                           bool relu, bool accumulate, int lanes,
                                                           columns::Scratch &shared) {
  if (lanes == 1) return maximaGradientBias<1>(dx, db, dy, x, y, partial, tickets, s, relu, accumulate, shared);
  maximaGradientBias<Wide<T>::lanes>(dx, db, dy, x, y, partial, tickets, s, relu, accumulate, shared);
}

}  // namespace pool

// y[t,p,q,c] = max of x over the window; rows and columns are halves rounded up.
extern "C" __global__ void __launch_bounds__(256)
max_pool(float *y, const float *x, int frames, int height, int width, int channels) {
  pool::maxPool(y, x, {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2});
}

extern "C" __global__ void __launch_bounds__(256)
max_pool_bf16(bfloat16 *y, const bfloat16 *x, int frames, int height, int width, int channels) {
  pool::maxPool(y, x, {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2});
}

extern "C" __global__ void __launch_bounds__(256)
max_pool_gradient(float *dx, const float *dy, const float *x, const float *y, int frames, int height, int width,
                  int channels, int relu) {
  pool::maxPoolGradient(dx, dy, x, y, {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2}, relu != 0);
}

extern "C" __global__ void __launch_bounds__(256)
max_pool_gradient_bf16(bfloat16 *dx, const bfloat16 *dy, const bfloat16 *x, const bfloat16 *y, int frames, int height,
                       int width, int channels, int relu) {
  pool::maxPoolGradient(dx, dy, x, y, {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2}, relu != 0);
}

// The gradient of the maxima, and db[c], the sum of dx over all cells, or that sum added to db. lanes is the
// channels of a thread: 1, or the channels in 16 bytes if rows of all maps are at multiples of them.
// blockDim.x is 32 / lanes. partial has gridDim.y * channels doubles, tickets one counter for each tile.
extern "C" __global__ void __launch_bounds__(256, 4)
max_pool_gradient_bias(float *dx, float *db, const float *dy, const float *x, const float *y, double *partial,
                       unsigned *tickets, int frames, int height, int width, int channels, int relu, int accumulate,
                       int lanes) {
  __shared__ columns::Scratch shared;
  pool::maxPoolGradientBias(dx, db, dy, x, y, partial, tickets,
                            {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2}, relu != 0,
                            accumulate != 0, lanes, shared);
}

extern "C" __global__ void __launch_bounds__(256, 4)
max_pool_gradient_bias_bf16(bfloat16 *dx, float *db, const bfloat16 *dy, const bfloat16 *x, const bfloat16 *y,
                            double *partial, unsigned *tickets, int frames, int height, int width, int channels,
                            int relu, int accumulate, int lanes) {
  __shared__ columns::Scratch shared;
  pool::maxPoolGradientBias(dx, db, dy, x, y, partial, tickets,
                            {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2}, relu != 0,
                            accumulate != 0, lanes, shared);
}
