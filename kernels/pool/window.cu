// 2x2 pooling with stride 2 over NHWC maps: maxima in ceil mode, means in floor mode, and their
// gradients. The gradient of the maxima has the mask of the ReLU below fused in and, where wanted, the
// gradient of the bias of the convolution below that.
//
// Mapping: a block takes rows of windows, blockIdx.x and on in steps of gridDim.x; its threads take
// (window, channels) in order, so that neighbouring threads touch neighbouring channels, 16 bytes each
// where rows allow. Every element of a gradient is written by the one thread of its window; nothing is
// summed across threads.
//
// Mapping with the gradient of the bias: block (tile, part) takes the windows of its part, in the order of y,
// for 32 neighbouring channels, the columns of reduce.cuh; thread (x, y) takes channel x, or those of 16
// bytes, and windows y, y + blockDim.y, ..., 32 of them in float before they join a double.
#include "../reduce.cuh"
#include "../vector.cuh"

namespace pool {

// Maps are frames x height x width x channels; windows are rows x columns, cut off at the border.
struct Shape {
  int frames, height, width, channels, rows, columns;
};

// Window is where the elements of one window and its output stand.
struct Window {
  long long corner, output;  // its upper left element
  long long right, down;     // steps to the neighbours; 0 where the border cuts
};

// The window at a place of its row of windows, line, which counts the rows of all frames; channels from
// channel on.
static __device__ __forceinline__ Window windowAt(const Shape &s, long long line, int column, int channel) {
  const int frame = (int)(line / s.rows), row = (int)(line - (long long)frame * s.rows);
  Window w;
  w.corner = (((long long)frame * s.height + 2 * row) * s.width + 2 * column) * s.channels + channel;
  w.output = (line * s.columns + column) * s.channels + channel;
  w.right = 2 * column + 1 < s.width ? s.channels : 0;
  w.down = 2 * row + 1 < s.height ? (long long)s.width * s.channels : 0;
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

template <int V, class T>
static __device__ __forceinline__ void maxima(T *y, const T *x, const Shape &s) {
  each<V>(s, [&](const Window &w) {
    const Vec<V> a = load<V>(x + w.corner), b = load<V>(x + w.corner + w.right);
    const Vec<V> c = load<V>(x + w.corner + w.down), d = load<V>(x + w.corner + w.down + w.right);
    Vec<V> top;
#pragma unroll
    for (int i = 0; i < V; i++) top.v[i] = larger(larger(a.v[i], b.v[i]), larger(c.v[i], d.v[i]));
    store<V>(y + w.output, top);
  });
}

// The first element, row by row, that equals the maximum gets the gradient, which is returned, 0 where none
// flows. Stores go from last to first: of an element that a cut window names twice the first name's value
// stays, and the second name never is the first to equal the maximum.
template <int V, class T>
static __device__ __forceinline__ Vec<V> scatter(T *dx, const T *dy, const T *x, const T *y, const Window &w,
                                                 bool relu) {
  const Vec<V> a = load<V>(x + w.corner), b = load<V>(x + w.corner + w.right), c = load<V>(x + w.corner + w.down);
  const Vec<V> top = load<V>(y + w.output);
  Vec<V> g = load<V>(dy + w.output), da, db, dc, dd;
#pragma unroll
  for (int i = 0; i < V; i++) {
    const bool isA = a.v[i] == top.v[i], isB = !isA && b.v[i] == top.v[i], isC = !isA && !isB && c.v[i] == top.v[i];
    if (relu && !(top.v[i] > 0)) g.v[i] = 0;
    da.v[i] = isA ? g.v[i] : 0.0f;
    db.v[i] = isB ? g.v[i] : 0.0f;
    dc.v[i] = isC ? g.v[i] : 0.0f;
    dd.v[i] = !isA && !isB && !isC ? g.v[i] : 0.0f;
  }
  store<V>(dx + w.corner + w.down + w.right, dd);
  store<V>(dx + w.corner + w.down, dc);
  store<V>(dx + w.corner + w.right, db);
  store<V>(dx + w.corner, da);
  return g;
}

template <int V, class T>
static __device__ __forceinline__ void maximaGradient(T *dx, const T *dy, const T *x, const T *y, const Shape &s,
                                                      bool relu) {
  each<V>(s, [&](const Window &w) { scatter<V>(dx, dy, x, y, w, relu); });
}

// The gradient, and its sum over all cells, which is that of the windows' own: no element of dx is read.
template <int V, class T>
static __device__ __forceinline__ void maximaGradientBias(T *dx, float *db, const T *dy, const T *x, const T *y,
                                                          double *partial, unsigned *tickets, const Shape &s,
                                                          bool relu, bool accumulate, columns::Scratch &shared) {
  const int channel = blockIdx.x * columns::tile + threadIdx.x * V;
  const unsigned windows = (unsigned)s.frames * s.rows * s.columns, part = (windows + gridDim.y - 1) / gridDim.y;
  const unsigned begin = min(blockIdx.y * part, windows), end = min(begin + part, windows);
  double total[V] = {};
  if (channel < s.channels) {
    for (unsigned i = begin + threadIdx.y; i < end;) {
      float some[V] = {};
      for (int n = 0; n < columns::foldAfter && i < end; n++, i += blockDim.y) {
        const unsigned line = i / s.columns;
        const Vec<V> g = scatter<V>(dx, dy, x, y, windowAt(s, line, (int)(i - line * s.columns), channel), relu);
#pragma unroll
        for (int k = 0; k < V; k++) some[k] += g.v[k];
      }
#pragma unroll
      for (int k = 0; k < V; k++) total[k] += (double)some[k];
    }
  }
  columns::add<V>(db, total, partial, tickets, s.channels, accumulate, shared);
}

// Windows that the border cuts have no mean and give no gradient.
static __device__ __forceinline__ bool whole(const Window &w) { return w.right != 0 && w.down != 0; }

// In floor mode no window is cut.
template <int V, class T>
static __device__ __forceinline__ void means(T *y, const T *x, const Shape &s) {
  each<V>(s, [&](const Window &w) {
    const Vec<V> a = load<V>(x + w.corner), b = load<V>(x + w.corner + w.right);
    const Vec<V> c = load<V>(x + w.corner + w.down), d = load<V>(x + w.corner + w.down + w.right);
    Vec<V> mean;
#pragma unroll
    for (int i = 0; i < V; i++) mean.v[i] = ((a.v[i] + b.v[i]) + (c.v[i] + d.v[i])) / 4;
    store<V>(y + w.output, mean);
  });
}

// Here windows are counted in ceil mode, so that the odd row and column are written too; dy has rows x
// columns windows in floor mode.
template <int V, class T>
static __device__ __forceinline__ void meansGradient(T *dx, const T *dy, Shape s, int rows, int columns) {
  each<V>(s, [&](const Window &w) {
    Vec<V> g = {};
    if (whole(w)) {
      // w.output counts in the ceil grid: back to frame, row and column.
      const long long place = w.output / s.channels, channel = w.output - place * s.channels;
      const long long line = place / s.columns, column = place - line * s.columns;
      const long long frame = line / s.rows, row = line - frame * s.rows;
      g = load<V>(dy + ((frame * rows + row) * columns + column) * s.channels + channel);
#pragma unroll
      for (int i = 0; i < V; i++) g.v[i] /= 4;
    }
    store<V>(dx + w.corner + w.down + w.right, g);
    store<V>(dx + w.corner + w.down, g);
    store<V>(dx + w.corner + w.right, g);
    store<V>(dx + w.corner, g);
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

// The gradient of the maxima, and db[c], the sum of dx over all cells, or that added to what db holds. lanes
// is the channels of a thread: 1, or those of 16 bytes where rows of all maps are at multiples of them;
// blockDim.x is 32 / lanes. partial has gridDim.y * channels doubles, tickets one counter for each tile.
extern "C" __global__ void __launch_bounds__(256)
max_pool_gradient_bias(float *dx, float *db, const float *dy, const float *x, const float *y, double *partial,
                       unsigned *tickets, int frames, int height, int width, int channels, int relu, int accumulate,
                       int lanes) {
  __shared__ columns::Scratch shared;
  pool::maxPoolGradientBias(dx, db, dy, x, y, partial, tickets,
                            {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2}, relu != 0,
                            accumulate != 0, lanes, shared);
}

extern "C" __global__ void __launch_bounds__(256)
max_pool_gradient_bias_bf16(bfloat16 *dx, float *db, const bfloat16 *dy, const bfloat16 *x, const bfloat16 *y,
                            double *partial, unsigned *tickets, int frames, int height, int width, int channels,
                            int relu, int accumulate, int lanes) {
  __shared__ columns::Scratch shared;
  pool::maxPoolGradientBias(dx, db, dy, x, y, partial, tickets,
                            {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2}, relu != 0,
                            accumulate != 0, lanes, shared);
}

// y[t,p,q,c] = mean of x over the window; rows and columns are halves rounded down.
extern "C" __global__ void __launch_bounds__(256)
avg_pool(float *y, const float *x, int frames, int height, int width, int channels) {
  const pool::Shape s = {frames, height, width, channels, height / 2, width / 2};
  if (rowsAligned(x, channels) && rowsAligned(y, channels)) return pool::means<4>(y, x, s);
  pool::means<1>(y, x, s);
}

extern "C" __global__ void __launch_bounds__(256)
avg_pool_gradient(float *dx, const float *dy, int frames, int height, int width, int channels) {
  const pool::Shape s = {frames, height, width, channels, (height + 1) / 2, (width + 1) / 2};
  if (rowsAligned(dx, channels) && rowsAligned(dy, channels)) {
    return pool::meansGradient<4>(dx, dy, s, height / 2, width / 2);
  }
  pool::meansGradient<1>(dx, dy, s, height / 2, width / 2);
}
