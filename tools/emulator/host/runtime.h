// The driver's interface to the emulator.
#pragma once
#include "device.h"
#include <string>

namespace emulator {

struct Kernel {
  Body body;
  unsigned arguments;
  unsigned largestBlock;
};

// find returns the kernel of a name, or null.
const Kernel *find(const std::string &name);

// run executes a launch. It returns an empty string, or the error.
std::string run(const Kernel &kernel, dim3 grid, dim3 block, void **arguments);

}  // namespace emulator
