// The language of the kernels on a host: included before a .cu file that a plain C++ compiler builds. One
// fiber stands for each thread of a block and blocks run one after another, so that barriers, shared memory,
// shuffles and atomics keep their meaning. It has only the features that the kernels use.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#define NMN_EMULATOR 1
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
// One block runs at a time, so that static memory is memory of the block. All of it lies in one section,
// which is filled with NaN before each block.
#define __shared__ static __attribute__((section("nmn_shared")))
#define warpSize 32

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

namespace emulator {

// Place is the position of a thread.
struct Place {
  uint3 thread, block;
  dim3 blockSize, gridSize;
};

extern const Place *place;  // of the running thread

// Waits for all threads of the block that have not ended. It returns whether predicate is true for any of
// them.
bool barrier(bool predicate, const char *file, int line);
// Waits for the lanes in mask, gives them value and returns the value of a lane.
uint64_t exchange(unsigned mask, uint64_t value, unsigned from, const char *file, int line);
unsigned lane();

// A kernel by its name. body calls it with a pointer to each argument of a launch. largestBlock is its launch
// bound.
typedef void (*Body)(void **arguments);
void add(const char *name, Body body, unsigned arguments, unsigned largestBlock);
template <class... A>
unsigned countOf(void (*)(A...)) {
  return sizeof...(A);
}

template <class... A, size_t... I>
void call(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
  kernel(*static_cast<std::decay_t<A> *>(arguments[I])...);
}
template <class... A>
void call(void (*kernel)(A...), void **arguments) {
  call(kernel, arguments, std::index_sequence_for<A...>{});
}

template <class T>
T shuffle(unsigned mask, T value, unsigned from, const char *file, int line) {
  static_assert(sizeof(T) <= 8, "shuffles move at most eight bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  bits = exchange(mask, bits, from, file, line);
  memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace emulator

#define threadIdx (emulator::place->thread)
#define blockIdx (emulator::place->block)
#define blockDim (emulator::place->blockSize)
#define gridDim (emulator::place->gridSize)

#define __syncthreads() ((void)emulator::barrier(false, __FILE__, __LINE__))
#define __syncthreads_or(predicate) ((int)emulator::barrier((predicate) != 0, __FILE__, __LINE__))
#define __syncwarp() ((void)emulator::exchange(0xffffffffu, 0, emulator::lane(), __FILE__, __LINE__))
#define __shfl_sync(mask, value, from) emulator::shuffle(mask, value, (from) & 31u, __FILE__, __LINE__)
#define __shfl_xor_sync(mask, value, flip) emulator::shuffle(mask, value, emulator::lane() ^ (unsigned)(flip), __FILE__, __LINE__)
#define __threadfence() ((void)0)

template <class T>
static inline T atomicAdd(T *at, T value) {
  static_assert(std::is_integral<T>::value, "a sum by atomics of floats depends on timing");
  const T old = *at;
  *at = old + value;
  return old;
}

static inline float __uint_as_float(unsigned bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline unsigned __float_as_uint(float x) {
  unsigned bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }

static inline float __fdividef(float a, float b) { return a / b; }

using std::max;
using std::min;
