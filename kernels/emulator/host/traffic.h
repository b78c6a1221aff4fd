// The traffic of kernels that were compiled to be counted. A library without them has none of these functions.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emulator {

struct Traffic {
  size_t read, written;  // bytes
};

// beginTraffic forgets what was counted and counts from now on, until endTraffic.
__attribute__((weak)) void beginTraffic();
__attribute__((weak)) void endTraffic();

// trafficOf is what was counted within some memory.
__attribute__((weak)) Traffic trafficOf(uintptr_t at, size_t bytes);

}  // namespace emulator
