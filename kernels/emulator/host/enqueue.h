// Work on a stream of the emulated driver: done at once, or kept for a graph that is being captured.
#pragma once
#include <functional>

namespace emulator {
int enqueue(void *stream, std::function<int()> work);
}
