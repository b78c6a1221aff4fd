//go:build cgo && (mpi || mpich)

#ifndef NMN_GROUP_MPI_SUM_H
#define NMN_GROUP_MPI_SUM_H

#include <stdint.h>
#include <string.h>

/* narrowed is the nearest bfloat16, ties to even; a NaN stays one. */
static inline uint16_t narrowed(float v) {
  uint32_t b;
  memcpy(&b, &v, 4);
  uint32_t near = (b + 0x7fff + (b >> 16 & 1)) >> 16;
  uint32_t nan = b >> 16 | 0x40;
  return (uint16_t)((b & 0x7fffffff) > 0x7f800000 ? nan : near);
}

static inline float widened(uint16_t v) {
  uint32_t b = (uint32_t)v << 16;
  float f;
  memcpy(&f, &b, 4);
  return f;
}

static inline void narrow(uint16_t *to, const float *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = narrowed(from[i]);
}

static inline void widen(float *to, const uint16_t *from, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = widened(from[i]);
}

/* Numbers that are added at once: they stay in the first cache. */
enum { BLOCK = 2048 };

/* add_float32 adds to own, which is rank's, the n numbers of each other rank, which lie one after the other in theirs.
   The order of the sum is that of the ranks. */
static inline void add_float32(float *own, const float *theirs, int64_t n, int rank, int size) {
  float total[BLOCK];
  for (int64_t at = 0; at < n; at += BLOCK) {
    int m = (int)(n - at < BLOCK ? n - at : BLOCK);
    for (int k = 0; k < size; k++) {
      const float *x = (k == rank ? own : theirs + (k < rank ? k : k - 1) * n) + at;
      if (k == 0)
        for (int i = 0; i < m; i++) total[i] = 0 + x[i];
      else if (k < size - 1)
        for (int i = 0; i < m; i++) total[i] += x[i];
      else
        for (int i = 0; i < m; i++) own[at + i] = total[i] + x[i];
    }
  }
}

/* add_bfloat16 does the same for bfloat16; the sum is made in float32 and rounded at its end. */
static inline void add_bfloat16(uint16_t *own, const uint16_t *theirs, int64_t n, int rank, int size) {
  float total[BLOCK];
  for (int64_t at = 0; at < n; at += BLOCK) {
    int m = (int)(n - at < BLOCK ? n - at : BLOCK);
    for (int k = 0; k < size; k++) {
      const uint16_t *x = (k == rank ? own : theirs + (k < rank ? k : k - 1) * n) + at;
      if (k == 0)
        for (int i = 0; i < m; i++) total[i] = 0 + widened(x[i]);
      else
        for (int i = 0; i < m; i++) total[i] += widened(x[i]);
    }
    narrow(own + at, total, m);
  }
}

#endif
