// The end of a data gradient that was computed as a product (col2im). columns, N×P×Q×R×S×C, holds the
// contributions of each output cell to the input cells in its window. Here they are summed for each input
// cell.
//
// Mapping: a thread takes 16 bytes of the channels of one cell if rows allow, one channel otherwise, in steps
// of the grid. It adds the contributions of the windows that hold the cell, in the order of r and s, in
// float. Bytes, for elements of T bytes: T for each element of columns that lies in the input and T for each
// of dx.
//
// unfold copies the windows of x to rows (im2col), so that a forward pass without padding becomes a product. A block
// has a window. Bytes: 16 for each group of a window, written. x stays in the L2 cache.
#include "../vector.cuh"

namespace columns_gradient {

template <int V, class T>
static __device__ __forceinline__ void gather(T *dx, const T *columns, long long groups, int h, int w, int channels,
                                              int p, int q, int r, int s, int pad) {
  const long long step = (long long)gridDim.x * blockDim.x;
  const int wide = channels / V;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += step) {
    const long long cell = i / wide, frame = cell / (h * w);
    const int y = (int)(cell / w % h) + pad, x = (int)(cell % w) + pad;
    const int rows = min(r - 1, y), across = min(s - 1, x);
    const T *from = columns + (i % wide) * V;
    float sum[V] = {};
    for (int down = max(0, y - p + 1); down <= rows; down++) {
      const long long window = (frame * p + (y - down)) * q;
#pragma unroll 4
      for (int right = max(0, x - q + 1); right <= across; right++) {
        const Vec<V> v = load<V>(from + (((window + (x - right)) * r + down) * s + right) * channels);
#pragma unroll
        for (int k = 0; k < V; k++) sum[k] += v.v[k];
      }
    }
    Vec<V> total;
#pragma unroll
    for (int k = 0; k < V; k++) total.v[k] = sum[k];
    store<V>(dx + i * V, total);
  }
}

template <class T>
static __device__ __forceinline__ void gatherTo(T *dx, const T *columns, long long cells, int h, int w, int channels,
                                                int p, int q, int r, int s, int pad) {
  const int lanes = Wide<T>::lanes;
  if (rowsAligned(dx, channels) && rowsAligned(columns, channels)) {
    return gather<lanes>(dx, columns, cells * (channels / lanes), h, w, channels, p, q, r, s, pad);
  }
  gather<1>(dx, columns, cells * channels, h, w, channels, p, q, r, s, pad);
}

}  // namespace columns_gradient

// dx has cells of channels elements, in frames of h×w. columns has windows of r×s such cells, in frames of
// p×q.
extern "C" __global__ void __launch_bounds__(256)
gather_columns(float *dx, const float *columns, long long cells, int h, int w, int channels, int p, int q, int r, int s,
               int pad) {
  columns_gradient::gatherTo(dx, columns, cells, h, w, channels, p, q, r, s, pad);
}

extern "C" __global__ void __launch_bounds__(256)
gather_columns_bf16(bfloat16 *dx, const bfloat16 *columns, long long cells, int h, int w, int channels, int p, int q,
                    int r, int s, int pad) {
  columns_gradient::gatherTo(dx, columns, cells, h, w, channels, p, q, r, s, pad);
}

// columns has windows of r rows, each of `run` groups of 16 bytes. x has frames of h×w cells of `wide` groups. There
// are p×q windows in a frame.
extern "C" __global__ void __launch_bounds__(256)
unfold(uint4 *columns, const uint4 *x, int h, int w, int wide, int p, int q, int r, int run) {
  const int window = blockIdx.x, column = window % q, row = window / q % p, frame = window / q / p;
  const uint4 *from = x + (((long long)frame * h + row) * w + column) * wide;
  uint4 *to = columns + (long long)window * r * run;
  for (int i = threadIdx.x; i < run; i += blockDim.x) {
#pragma unroll 4
    for (int down = 0; down < r; down++) to[down * run + i] = from[(long long)down * w * wide + i];
  }
}
