// The first convolution of a net, from pictures of 8 channels (3 and zeros, see docs/background/cuda-kernels.md) with filters
// of 3 by 3 around each pixel, in bfloat16 with bias and ReLU: on tensor cores, at the speed of its output.
//
// Mapping: a block has 64 filters, which each of its warps holds in registers, and takes tiles of y, 8 rows
// by 64 columns, in steps of the grid. The part of x for a tile lies in shared memory, with zeros around the
// picture, and the part for the next tile is loaded meanwhile. A warp has a row of the tile and multiplies 64
// filters by 8 pixels at a time. The 8 channels of a tap are half of the 16 that a product sums: five
// products make nine taps and one of zeros. The rows of the products are filters in such an order that a lane
// gets 8 neighbours, 16 bytes of y, and a warp writes whole pixels. Sums begin with the bias and add up in
// float, by taps. They are rounded once.
//
// Bytes: x once for every 64 filters, except for the seams of tiles, and y once.
//
// The filter gradient of such a convolution is a product of dy and the windows of x, summed over all pixels.
//
// Mapping: a block has 64 filters and takes tiles of 4 rows by 32 columns, as above. Its parts of dy and x lie in
// shared memory. Two warps have a row of the tile, with 32 filters each, and multiply 16 pixels at a time. Each
// keeps its sums of all taps in registers, in float, until the last tile. Then the rows are added in ascending
// order, and the block writes its sums to partial. bias_gradient adds the blocks. Their number follows from the
// shape alone. A pixel of the tile outside of the map has a gradient of 0, so that NaN in x may reach more taps
// than those that see it.
//
// Bytes: dy once, and x once for every 64 filters, except for the seams of tiles.
#include "../mma.cuh"

namespace first {

const int threads = 256, tileRows = threads / 32, tileColumns = 64;
const int filters = 64, taps = 9;  // of a block, of a filter
const int words = 4;               // of a pixel of x, two channels each

typedef unsigned Halo[tileRows + 2][tileColumns + 2][words];

struct alignas(16) Shared {
  Halo x[2];
  float bias[filters];
};

// The first cell of a tile.
struct Tile {
  int frame, row, column;
};

template <int rows, int columns>
static __device__ __forceinline__ Tile tileAt(unsigned i, int height, int width) {
  const unsigned across = (width + columns - 1) / columns, down = (height + rows - 1) / rows;
  return {(int)(i / across / down), (int)(i / across % down) * rows, (int)(i % across) * columns};
}

static __device__ __forceinline__ Tile tileOf(unsigned i, int height, int width) {
  return tileAt<tileRows, tileColumns>(i, height, width);
}

// Begins to copy the part of x for a tile of y.
static __device__ __forceinline__ void fetch(Halo &to, const uint4 *x, Tile tile, int height, int width) {
#pragma unroll 1
  for (int i = threadIdx.x; i < (tileRows + 2) * (tileColumns + 2); i += threads) {
    const int row = i / (tileColumns + 2), column = i % (tileColumns + 2);
    const int h = tile.row + row - 1, w = tile.column + column - 1;
    const bool inside = h >= 0 && h < height && w >= 0 && w < width;
    const long long pixel = inside ? ((long long)tile.frame * height + h) * width + w : 0;
    mma::copy(to[row][column], x + pixel, inside);
  }
}

}  // namespace first

// y = act(x * w + bias), all but the bias in bfloat16. bias may be null, and act is ReLU if relu is not 0. y
// has 64 channels for each gridDim.y. tiles is the number of tiles in all frames.
extern "C" __global__ void __launch_bounds__(first::threads, 2)
first_conv_bf16(uint4 *y, const uint4 *x, const unsigned *w, const float *bias, int tiles, int height, int width,
                int channels, int relu) {
  using namespace first;
  __shared__ Shared shared;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, warp = threadIdx.x / 32;  // g and t as in mma.cuh
  const int begin = blockIdx.y * filters;

  fetch(shared.x[0], x, tileOf(blockIdx.x, height, width), height, width);
  if (threadIdx.x < filters) shared.bias[threadIdx.x] = bias ? bias[begin + threadIdx.x] : 0.0f;
  unsigned filter[5][4][4];
#pragma unroll
  for (int step = 0; step < 5; step++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
      for (int k = 0; k < 4; k++) {
        const int row = begin + 8 * g + 2 * i + k % 2, tap = 2 * step + k / 2;
        filter[step][i][k] = tap < taps ? w[(row * taps + tap) * words + t] : 0;
      }
    }
  }

  int turn = 0;
  for (int at = blockIdx.x; at < tiles; at += gridDim.x, turn ^= 1) {
    mma::arrived();
    __syncthreads();  // the tile has arrived, and all threads have read the previous one
    const int next = at + gridDim.x;
    if (next < tiles) fetch(shared.x[turn ^ 1], x, tileOf(next, height, width), height, width);
    const Tile tile = tileOf(at, height, width);
    const int h = tile.row + warp;
    if (h >= height) continue;
    uint4 *row = y + (((long long)tile.frame * height + h) * width * channels + begin) / 8 + g;
    for (int from = tile.column; from < min(tile.column + tileColumns, width); from += 8) {
      float sums[4][4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int k = 0; k < 4; k++) sums[i][k] = shared.bias[8 * g + 2 * i + k / 2];
      }
#pragma unroll
      for (int step = 0; step < 5; step++) {
        unsigned pixels[2] = {};
#pragma unroll
        for (int k = 0; k < 2; k++) {
          const int tap = 2 * step + k;
          if (tap < taps) pixels[k] = shared.x[turn][warp + tap / 3][from - tile.column + g + tap % 3][t];
        }
#pragma unroll
        for (int i = 0; i < 4; i++) mma::multiply(sums[i], filter[step][i], pixels);
      }
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const int column = from + 2 * t + k;
        if (column >= width) break;
        unsigned pairs[4];
#pragma unroll
        for (int i = 0; i < 4; i++) pairs[i] = mma::pair(sums[i][k], sums[i][k + 2], relu != 0);
        row[(long long)column * (channels / 8)] = {pairs[0], pairs[1], pairs[2], pairs[3]};
      }
    }
  }
}

namespace first_gradient {

const int threads = 256, tileRows = 4, tileColumns = 32;
const int filters = first::filters, taps = first::taps, words = first::words;
const int across = filters / 2 + 4;  // words from pixel to pixel of dy, so that 8 pixels meet all banks
const int numbers = taps * 2 * words;  // of a filter

struct Stage {
  unsigned dy[tileRows][tileColumns][across];
  unsigned x[tileRows + 2][tileColumns + 3][words];  // the last column is read together with a tap, and not used
};

union alignas(16) Shared {
  Stage stages[2];
  float sums[filters][numbers];
};

static __device__ __forceinline__ first::Tile tileOf(unsigned i, int height, int width) {
  return first::tileAt<tileRows, tileColumns>(i, height, width);
}

// Begins to copy the parts of dy and x for a tile.
static __device__ __forceinline__ void fetch(Stage &to, const uint4 *x, const uint4 *dy, first::Tile tile, int height,
                                             int width, int channels) {
  const int groups = filters / 8;  // of 16 bytes, in a pixel of dy
#pragma unroll 1
  for (int i = threadIdx.x; i < tileRows * tileColumns * groups; i += threads) {
    const int group = i % groups, column = i / groups % tileColumns, row = i / groups / tileColumns;
    const int h = tile.row + row, w = tile.column + column;
    const bool inside = h < height && w < width;
    const long long pixel = inside ? ((long long)tile.frame * height + h) * width + w : 0;
    mma::copy(&to.dy[row][column][4 * group], dy + pixel * (channels / 8) + group, inside);
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < (tileRows + 2) * (tileColumns + 2); i += threads) {
    const int row = i / (tileColumns + 2), column = i % (tileColumns + 2);
    const int h = tile.row + row - 1, w = tile.column + column - 1;
    const bool inside = h >= 0 && h < height && w >= 0 && w < width;
    const long long pixel = inside ? ((long long)tile.frame * height + h) * width + w : 0;
    mma::copy(to.x[row][column], x + pixel, inside);
  }
}

}  // namespace first_gradient

// partial has a row of channels * 72 sums for each gridDim.x, 64 * 72 of them for each gridDim.y.
extern "C" __global__ void __launch_bounds__(first_gradient::threads, 2)
first_filter_bf16(float *partial, const uint4 *x, const uint4 *dy, int tiles, int height, int width, int channels) {
  using namespace first_gradient;
  __shared__ Shared shared;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, warp = threadIdx.x / 32;  // g and t as in mma.cuh
  const int own = warp / 2, half = warp % 2 * (filters / 2), begin = blockIdx.y * filters;
  dy += begin / 8;

  float sums[2][taps][4] = {};
  fetch(shared.stages[0], x, dy, tileOf(blockIdx.x, height, width), height, width, channels);
  int turn = 0;
  for (int at = blockIdx.x; at < tiles; at += gridDim.x, turn ^= 1) {
    mma::arrived();
    __syncthreads();  // the tile has arrived, and all threads have read the previous one
    const int next = at + gridDim.x;
    if (next < tiles) fetch(shared.stages[turn ^ 1], x, dy, tileOf(next, height, width), height, width, channels);
    const Stage &now = shared.stages[turn];
#pragma unroll
    for (int from = 0; from < tileColumns; from += 16) {
      unsigned gradient[2][4];
#pragma unroll
      for (int m = 0; m < 2; m++) {
        unsigned turned[4];
        mma::columns(turned, &now.dy[own][from][half / 2 + 8 * m], across);
#pragma unroll
        for (int k = 0; k < 4; k++) gradient[m][k] = turned[k / 2 + k % 2 * 2];
      }
#pragma unroll
      for (int down = 0; down < 3; down++) {
        unsigned two[4], last[4];  // taps 0 and 1, tap 2
        mma::columns(two, now.x[own + down][from], words);
        mma::columns(last, now.x[own + down][from + 2], words);
        const unsigned pixels[3][2] = {{two[0], two[1]}, {two[2], two[3]}, {last[0], last[1]}};
#pragma unroll
        for (int right = 0; right < 3; right++) {
#pragma unroll
          for (int m = 0; m < 2; m++) mma::multiply(sums[m][3 * down + right], gradient[m], pixels[right]);
        }
      }
    }
  }

  for (int row = 0; row < tileRows; row++) {
    __syncthreads();
    if (own != row) continue;
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
      for (int tap = 0; tap < taps; tap++) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
          float &sum = shared.sums[half + 16 * m + g + k / 2 * 8][2 * words * tap + 2 * t + k % 2];
          sum = row ? sum + sums[m][tap][k] : sums[m][tap][k];
        }
      }
    }
  }
  __syncthreads();
  float *to = partial + ((long long)blockIdx.x * channels + begin) * numbers;
  for (int i = threadIdx.x; i < filters * numbers; i += threads) to[i] = shared.sums[i / numbers][i % numbers];
}
