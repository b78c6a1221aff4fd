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

static __device__ __forceinline__ Tile tileOf(unsigned i, int height, int width) {
  const unsigned across = (width + tileColumns - 1) / tileColumns, down = (height + tileRows - 1) / tileRows;
  return {(int)(i / across / down), (int)(i / across % down) * tileRows, (int)(i % across) * tileColumns};
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
