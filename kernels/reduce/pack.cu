// The tensors of a bucket next to each other in one buffer, in float32 or rounded to bfloat16, and back, so
// that ranks sum them as one array.
//
// Mapping: block b works on chunk b, elements of one tensor. blockDim.x is 256. The tensor is found by
// bisection of the first chunks. Within a chunk, thread i takes groups of eight elements i, i + 256, ... if
// the tensor is at a multiple of 16 bytes, single elements otherwise, and loads several groups before it uses
// the first. Places in the buffer are at multiples of eight elements. Bytes an element: 8 in float32, 6 in
// bfloat16, either way.
#include "../vector.cuh"

// Packed is one tensor in the table that the host uploads; 32 bytes, laid out as packedTensor in Go.
struct Packed {
  float *x;
  long long at, length;  // its place in the buffer
  unsigned firstChunk;
  unsigned reserved;
};

namespace reduce {

const int chunkLength = 16384;
const int lanes = 8;
const int batch = 2;

// Part is the work of the block: length elements of a tensor, and their place in the buffer.
template <class T>
struct Part {
  float *x;
  T *packed;
  int length;
};

template <class T>
static __device__ __forceinline__ Part<T> partOf(const Packed *tensors, int count, T *buffer) {
  int lo = 0, hi = count;  // tensors[lo].firstChunk <= blockIdx.x < that of tensors[hi]
  while (hi - lo > 1) {
    const int middle = (lo + hi) / 2;
    if (tensors[middle].firstChunk <= blockIdx.x) lo = middle; else hi = middle;
  }
  const Packed t = tensors[lo];
  const long long begin = (long long)(blockIdx.x - t.firstChunk) * chunkLength;
  const Part<T> p = {t.x + begin, buffer + t.at + begin, (int)min(t.length - begin, (long long)chunkLength)};
#ifndef NMN_EMULATOR
  __builtin_assume(__isGlobal(p.x));  // the compiler cannot derive it for a pointer read from memory
#endif
  return p;
}

// copy writes length elements, rounded if To is bfloat16.
template <class To, class From>
static __device__ __forceinline__ void copy(To *to, const From *from, int length) {
  const int whole = aligned(to) && aligned(from) ? length / lanes * lanes : 0, step = lanes * blockDim.x;
  int i = lanes * threadIdx.x;
  for (; i + (batch - 1) * step < whole; i += batch * step) {
    Vec<lanes> held[batch];
#pragma unroll
    for (int k = 0; k < batch; k++) held[k] = load<lanes>(from + i + k * step);
#pragma unroll
    for (int k = 0; k < batch; k++) store<lanes>(to + i + k * step, held[k]);
  }
#pragma unroll 1
  for (; i < whole; i += step) store<lanes>(to + i, load<lanes>(from + i));
#pragma unroll 1
  for (i = whole + threadIdx.x; i < length; i += blockDim.x) store<1>(to + i, load<1>(from + i));
}

}  // namespace reduce

extern "C" __global__ void __launch_bounds__(256) pack(const Packed *tensors, int count, float *buffer) {
  const reduce::Part<float> p = reduce::partOf(tensors, count, buffer);
  reduce::copy(p.packed, p.x, p.length);
}

extern "C" __global__ void __launch_bounds__(256) unpack(const Packed *tensors, int count, float *buffer) {
  const reduce::Part<float> p = reduce::partOf(tensors, count, buffer);
  reduce::copy(p.x, p.packed, p.length);
}

extern "C" __global__ void __launch_bounds__(256) pack_bf16(const Packed *tensors, int count, bfloat16 *buffer) {
  const reduce::Part<bfloat16> p = reduce::partOf(tensors, count, buffer);
  reduce::copy(p.packed, p.x, p.length);
}

extern "C" __global__ void __launch_bounds__(256) unpack_bf16(const Packed *tensors, int count, bfloat16 *buffer) {
  const reduce::Part<bfloat16> p = reduce::partOf(tensors, count, buffer);
  reduce::copy(p.x, p.packed, p.length);
}
