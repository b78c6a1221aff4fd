// The parameters of a net as one list of chunks: an update is one launch for any number of tensors.
//
// Mapping: block b works on chunk b, elements of one entry. blockDim.x is 256. The entry is found by
// bisection of the first chunks. Within a chunk, thread i takes groups of four elements i, i + 256, ... if
// all arrays of the entry are at multiples of 16 bytes, single elements otherwise. It loads several groups
// before it uses the first, so that enough bytes are under way. Every array is read and written once at most.
#pragma once
#include "../vector.cuh"

// Entry is one parameter in the table that the host uploads; 72 bytes, laid out as tableEntry in Go.
struct Entry {
  float *w, *g, *m, *v;
  bfloat16 *copy;  // of w after the update, null for none
  float *average;  // moving average of w, null for none
  long long length;
  unsigned firstChunk;
  unsigned reserved;
  float rate, decay;
};

namespace update {

const int chunkLength = 16384;

// Chunk is the part of an entry that the block works on.
struct Chunk {
  Entry entry;  // its arrays begin at the chunk
  int length;
};

// global declares that an array is in device memory. The compiler cannot derive that for pointers read from
// memory, and would test the space of every address.
template <class T>
static __device__ __forceinline__ void global(T *array) {
#ifndef NMN_EMULATOR
  __builtin_assume(__isGlobal(array));
#endif
}

static __device__ __forceinline__ Chunk chunkOf(const Entry *entries, int count) {
  int lo = 0, hi = count;  // entries[lo].firstChunk <= blockIdx.x < that of entries[hi]
  while (hi - lo > 1) {
    const int middle = (lo + hi) / 2;
    if (entries[middle].firstChunk <= blockIdx.x) lo = middle; else hi = middle;
  }
  Chunk c;
  c.entry = entries[lo];
  const long long begin = (long long)(blockIdx.x - c.entry.firstChunk) * chunkLength;
  c.length = (int)min(c.entry.length - begin, (long long)chunkLength);
  c.entry.g += begin;
  if (c.entry.w) c.entry.w += begin;
  if (c.entry.m) c.entry.m += begin;
  if (c.entry.v) c.entry.v += begin;
  if (c.entry.copy) c.entry.copy += begin;
  if (c.entry.average) c.entry.average += begin;
  global(c.entry.w), global(c.entry.g), global(c.entry.m), global(c.entry.v);
  global(c.entry.copy), global(c.entry.average);
  return c;
}

// each calls op.use(place, op.template load<V>(place)) for all elements of the chunk, V of them from each
// place. Groups of four come in batches that are loaded as a whole before the first of them is used, and the
// rest one by one. A thread uses its places in ascending order.
template <int batch, class Op>
static __device__ __forceinline__ void each(const Chunk &c, Op &op) {
  const Entry &e = c.entry;
  const bool groups = aligned(e.w) && aligned(e.g) && aligned(e.m) && aligned(e.v) && aligned(e.copy) &&
                      aligned(e.average);
  const int whole = groups ? c.length / 4 * 4 : 0, step = 4 * blockDim.x;
  int i = 4 * threadIdx.x;
  for (; i + (batch - 1) * step < whole; i += batch * step) {
    decltype(op.template load<4>(i)) held[batch];
#pragma unroll
    for (int k = 0; k < batch; k++) held[k] = op.template load<4>(i + k * step);
#pragma unroll
    for (int k = 0; k < batch; k++) op.use(i + k * step, held[k]);
  }
#pragma unroll 1
  for (; i < whole; i += step) op.use(i, op.template load<4>(i));
#pragma unroll 1
  for (i = whole + threadIdx.x; i < c.length; i += blockDim.x) op.use(i, op.template load<1>(i));
}

}  // namespace update
