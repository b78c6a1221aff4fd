// Normalisation of 8-bit pictures: x = (pixel - mean[c]) scale[c] on the valid part, mirrored where the
// picture's flip says so, and exactly 0 on the rest of the canvas and in channels beyond the third.
//
// Mapping: the output is one run of frames * height * width * channels elements; a thread writes groups of
// 16 bytes of it, in steps of the grid, whatever rows they lie in, and finds pixel and channel by
// division. The host splits batches so that an index fits 32 bits. Each element depends on one byte.
#include "../vector.cuh"

namespace pixels {

struct Picture {
  const unsigned char *pixels;
  const int *sizes;           // height and width of the valid part of each frame; null means all
  const unsigned char *flips;  // null means none
  unsigned height, width, channels;
  float mean[3], scale[3];
};

// C is the number of channels where it is known to the compiler, else 0.
template <unsigned C>
static __device__ __forceinline__ float value(const Picture &p, unsigned i) {
  const unsigned channels = C ? C : p.channels;
  const unsigned place = i / channels, channel = i - place * channels;
  const unsigned line = place / p.width, column = place - line * p.width;
  const unsigned frame = line / p.height, row = line - frame * p.height;
  unsigned validHeight = p.height, validWidth = p.width;
  if (p.sizes) validHeight = p.sizes[2 * frame], validWidth = p.sizes[2 * frame + 1];
  // A size beyond the canvas is cut to it: wrong sizes never reach stray memory.
  validHeight = min(validHeight, p.height), validWidth = min(validWidth, p.width);
  if (channel > 2 || row >= validHeight || column >= validWidth) return 0;
  const unsigned from = p.flips && p.flips[frame] ? validWidth - 1 - column : column;
  const float pixel = (float)p.pixels[((long long)line * p.width + from) * 3 + channel];
  const float mean = channel == 0 ? p.mean[0] : channel == 1 ? p.mean[1] : p.mean[2];
  const float scale = channel == 0 ? p.scale[0] : channel == 1 ? p.scale[1] : p.scale[2];
  return (pixel - mean) * scale;
}

template <unsigned C, class T>
static __device__ __forceinline__ void fill(T *x, const Picture &p, unsigned length) {
  const unsigned lanes = Wide<T>::lanes;
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  const unsigned groups = aligned(x) ? length / lanes : 0;
  for (unsigned g = first; g < groups; g += step) {
    Vec<lanes> v;
#pragma unroll
    for (unsigned k = 0; k < lanes; k++) v.v[k] = value<C>(p, g * lanes + k);
    store<lanes>(x + (long long)g * lanes, v);
  }
  for (unsigned i = groups * lanes + first; i < length; i += step) narrow(x[i], value<C>(p, i));
}

template <class T>
static __device__ __forceinline__ void normalize(T *x, const Picture &p, unsigned length) {
  switch (p.channels) {
    case 3: return fill<3>(x, p, length);
    case 4: return fill<4>(x, p, length);
    case 8: return fill<8>(x, p, length);
  }
  fill<0>(x, p, length);
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
