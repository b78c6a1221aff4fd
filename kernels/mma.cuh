// Operations that need PTX: products on tensor cores, asynchronous copies to shared memory, and the
// conversion of pairs. The emulator computes their results by other means. Below sm_80, which has no
// bfloat16, they do nothing.
#pragma once
#include "vector.cuh"

namespace mma {

// sums += a b for a warp: a has 16 rows of 16, b 16 columns of 16 bfloat16 numbers, two in each word, and sums is
// 16 by 8. Lane 4 g + t has, by the manual of PTX (mma.m16n8k16),
//
//	a[0], a[1]	columns 2t and 2t + 1 of rows g and g + 8	a[2], a[3]	the same, columns 2t + 8 and 2t + 9
//	b[0], b[1]	rows 2t and 2t + 1, rows 2t + 8 and 2t + 9 of column g
//	sums[0..3]	columns 2t and 2t + 1 of row g, then of row g + 8
static __device__ __forceinline__ void multiply(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef NMN_EMULATOR
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (int k = 0; k < 16; k += 2) {
    const unsigned lane = k / 2 % 4, far = k / 8;
    unsigned rows[2], columns[2];
    for (int i = 0; i < 2; i++) {
      rows[i] = __shfl_sync(0xffffffffu, a[2 * far + i], 4 * g + lane);
      columns[i] = __shfl_sync(0xffffffffu, b[far], 4 * (2 * t + i) + lane);
    }
    for (int i = 0; i < 4; i++) {
      const unsigned x = rows[i / 2], y = columns[i % 2];
      sums[i] += __uint_as_float(x << 16) * __uint_as_float(y << 16);
      sums[i] += __uint_as_float(x & 0xffff0000u) * __uint_as_float(y & 0xffff0000u);
    }
  }
#elif __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Copies 16 bytes to shared memory, or zeros if counts is false. from must be an address in any case. The
// bytes are there after arrived, for other threads after a later barrier.
static __device__ __forceinline__ void copy(void *shared, const void *from, bool counts) {
#ifdef NMN_EMULATOR
  *static_cast<uint4 *>(shared) = counts ? *static_cast<const uint4 *>(from) : uint4{};
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
               "l"(from), "r"(counts ? 16 : 0)
               : "memory");
#endif
}

static __device__ __forceinline__ void arrived() {
#if !defined(NMN_EMULATOR) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// b of multiply for two products, of columns 0 to 7 and 8 to 15 of 16 rows in shared memory that begin a stride apart, in
// words of two numbers: b[0] and b[1], b[2] and b[3]. Rows begin at multiples of 16 bytes.
static __device__ __forceinline__ void columns(unsigned (&b)[4], const unsigned *rows, int stride) {
#ifdef NMN_EMULATOR
  const unsigned g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  for (int i = 0; i < 4; i++) {
    const unsigned row = 8 * (i % 2) + 2 * t, column = 8 * (i / 2) + g;
    const unsigned low = rows[row * stride + column / 2], high = rows[(row + 1) * stride + column / 2];
    b[i] = (low >> 16 * (column % 2) & 0xffffu) | high >> 16 * (column % 2) << 16;
  }
#elif __CUDA_ARCH__ >= 800
  const unsigned lane = threadIdx.x % 32;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
               : "r"((unsigned)__cvta_generic_to_shared(rows + lane % 16 * stride + lane / 16 * 4))
               : "memory");
#endif
}

// Two numbers rounded as in narrow, the first in the lower half. If relu is set, negative ones become 0.
static __device__ __forceinline__ unsigned pair(float low, float high, bool relu) {
  unsigned both = 0;
#ifdef NMN_EMULATOR
  bfloat16 halves[2];
  narrow(halves[0], relu && low <= 0 ? 0.0f : low);
  narrow(halves[1], relu && high <= 0 ? 0.0f : high);
  both = halves[0].bits | (unsigned)halves[1].bits << 16;
#elif __CUDA_ARCH__ >= 800
  if (relu) {
    asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  }
#endif
  return both;
}

}  // namespace mma
