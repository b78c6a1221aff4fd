// The parameters of a net as one list of chunks: an update is one launch, whatever the number of tensors.
//
// Mapping: block b works on chunk b, elements of one entry; blockDim.x is 256. The entry is found by
// bisection of the first chunks. Within a chunk, thread i takes groups of four elements i, i + 256, ...
// where all arrays of the entry are at multiples of 16 bytes, single elements otherwise.
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
  return c;
}

// each calls wide(place) for groups of four and one(place) for what is left.
template <class F, class G>
static __device__ __forceinline__ void each(const Chunk &c, F wide, G one) {
  const Entry &e = c.entry;
  const bool groups = aligned(e.w) && aligned(e.g) && aligned(e.m) && aligned(e.v) && aligned(e.copy) &&
                      aligned(e.average);
  const int whole = groups ? c.length / 4 * 4 : 0;
  for (int i = 4 * threadIdx.x; i < whole; i += 4 * blockDim.x) wide(i);
  for (int i = whole + threadIdx.x; i < c.length; i += blockDim.x) one(i);
}

}  // namespace update
