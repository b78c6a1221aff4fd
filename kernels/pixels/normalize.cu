// Normalisation of 8-bit pictures: x = (pixel - mean[c]) scale[c] on the valid part, mirrored if the
// picture's flip is set, and exactly 0 on the rest of the canvas and in channels beyond the third.
//
// Mapping: the output is one run of frames * height * width * channels elements. A thread writes groups of 16
// bytes of it, in steps of the grid, in any rows, and finds the pixel of the first one by division. It reads
// the pixels of two groups before it writes the first. The host splits batches so that an index fits 32 bits.
// Each element depends on one byte. Bytes a pixel of C channels of T bytes: 3 + C T.
#include "../vector.cuh"

namespace pixels {

struct Picture {
  const unsigned char *pixels;
  const int *sizes;           // height and width of the valid part of each frame; null means all
  const unsigned char *flips;  // null means none
  unsigned height, width, channels;
  float mean[3], scale[3];
};

// Cursor walks over the elements of the output in their order.
struct Cursor {
  unsigned frame, row, column, channel;
  unsigned validHeight, validWidth;
  bool flip;
  const unsigned char *line;  // of the row's pixels

  __device__ __forceinline__ Cursor(const Picture &p, unsigned i) {
    const unsigned place = i / p.channels, lines = place / p.width;
    channel = i - place * p.channels, column = place - lines * p.width;
    frame = lines / p.height, row = lines - frame * p.height;
    line = p.pixels + (long long)lines * p.width * 3;
    enterFrame(p);
  }

  // A size beyond the canvas is cut to it: wrong sizes never reach stray memory.
  __device__ __forceinline__ void enterFrame(const Picture &p) {
    validHeight = p.sizes ? min((unsigned)p.sizes[2 * frame], p.height) : p.height;
    validWidth = p.sizes ? min((unsigned)p.sizes[2 * frame + 1], p.width) : p.width;
    flip = p.flips && p.flips[frame];
  }

  __device__ __forceinline__ float value(const Picture &p) const {
    if (channel > 2 || row >= validHeight || column >= validWidth) return 0;
    const float pixel = (float)line[(flip ? validWidth - 1 - column : column) * 3 + channel];
    const float mean = channel == 0 ? p.mean[0] : channel == 1 ? p.mean[1] : p.mean[2];
    const float scale = channel == 0 ? p.scale[0] : channel == 1 ? p.scale[1] : p.scale[2];
    return (pixel - mean) * scale;
  }

  // next must not be called at the last element of the batch.
  __device__ __forceinline__ void next(const Picture &p) {
    if (++channel < p.channels) return;
    channel = 0;
    if (++column < p.width) return;
    column = 0, line += 3 * (long long)p.width;
    if (++row < p.height) return;
    row = 0, frame++;
    enterFrame(p);
  }
};

// The values of V elements from i on.
template <unsigned V>
static __device__ __forceinline__ Vec<V> group(const Picture &p, unsigned i) {
  Cursor at(p, i);
  Vec<V> v;
#pragma unroll
  for (unsigned k = 0; k < V; k++) {
    v.v[k] = at.value(p);
    if (k + 1 < V) at.next(p);
  }
  return v;
}

template <class T>
static __device__ __forceinline__ void normalize(T *x, const Picture &p, unsigned length) {
  const unsigned lanes = Wide<T>::lanes;
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  const unsigned groups = aligned(x) ? length / lanes : 0;
  for (unsigned g = 2 * blockIdx.x * blockDim.x + threadIdx.x; g < groups; g += 2 * step) {
    const unsigned other = g + blockDim.x;
    const Vec<lanes> a = group<lanes>(p, g * lanes);
    if (other < groups) {
      const Vec<lanes> b = group<lanes>(p, other * lanes);
      store<lanes>(x + (long long)other * lanes, b);
    }
    store<lanes>(x + (long long)g * lanes, a);
  }
  for (unsigned i = groups * lanes + first; i < length; i += step) narrow(x[i], Cursor(p, i).value(p));
}

}  // namespace pixels

extern "C" __global__ void __launch_bounds__(256)
normalize(float *x, const unsigned char *pixels, const int *sizes, const unsigned char *flips, unsigned length,
          unsigned height, unsigned width, unsigned channels, float mean0, float mean1, float mean2, float scale0,
          float scale1, float scale2) {
  pixels::normalize(x, {pixels, sizes, flips, height, width, channels, {mean0, mean1, mean2}, {scale0, scale1, scale2}},
                    length);
}

extern "C" __global__ void __launch_bounds__(256)
normalize_bf16(bfloat16 *x, const unsigned char *pixels, const int *sizes, const unsigned char *flips,
               unsigned length, unsigned height, unsigned width, unsigned channels, float mean0, float mean1,
               float mean2, float scale0, float scale1, float scale2) {
  pixels::normalize(x, {pixels, sizes, flips, height, width, channels, {mean0, mean1, mean2}, {scale0, scale1, scale2}},
                    length);
}
