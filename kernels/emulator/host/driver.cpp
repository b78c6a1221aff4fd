// A libcuda.so.1 that runs kernels on the host: what package cuda calls of the driver. Memory is the
// host's, between red zones; every call has ended when it returns. Entry points that are missing here
// fail in the program as CUDA_ERROR_NOT_SUPPORTED. The interface is that of CUDA 13.
#include "enqueue.h"
#include "runtime.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace {

enum Code { success = 0, invalidValue = 1, outOfMemory = 2, invalidDevice = 101, invalidImage = 200, invalidHandle = 400, notFound = 500, illegalAddress = 700, launchFailed = 719, captureUnsupported = 900 };

std::mutex guard;
std::string fault;  // the text of launchFailed and illegalAddress

// Device memory, its size by its address. Allocations have red zones of this size on both sides.
const size_t redZone = 256;
const unsigned char redByte = 0x5a;
std::map<uintptr_t, size_t> memory;
const size_t capacity = size_t(8) << 30;
size_t held;

bool damaged(uintptr_t at, size_t bytes) {
  const unsigned char *before = reinterpret_cast<unsigned char *>(at - redZone), *after = reinterpret_cast<unsigned char *>(at + bytes);
  for (size_t i = 0; i < redZone; i++) {
    if (before[i] != redByte || after[i] != redByte) return true;
  }
  return false;
}

// held memory must hold whole ranges that copies name.
bool known(uintptr_t at, size_t bytes) {
  auto next = memory.upper_bound(at);
  if (next == memory.begin()) return false;
  --next;
  return at + bytes <= next->first + next->second;
}

struct Function {
  std::string name;
  const emulator::Kernel *kernel;
};

typedef std::vector<std::function<int()>> Graph;

struct Stream {
  Graph *capture = nullptr;  // where work goes instead of being done
};

// An event has happened when it is recorded, for work has ended when its call returns.
typedef std::chrono::steady_clock Clock;
typedef Clock::time_point Event;

using emulator::enqueue;

int copy(void *to, const void *from, size_t bytes, void *stream, uintptr_t device, uintptr_t other) {
  return enqueue(stream, [=] {
    if (!known(device, bytes) || (other && !known(other, bytes))) return int(invalidValue);
    memmove(to, from, bytes);
    return int(success);
  });
}

int launch(const Function &f, dim3 grid, dim3 block, void **arguments) {
  const std::string failed = emulator::run(*f.kernel, grid, block, arguments);
  if (!failed.empty()) {
    fault = f.name + ": " + failed;
    return launchFailed;
  }
  for (auto &m : memory) {
    if (damaged(m.first, m.second)) {
      fault = f.name + " wrote outside of an allocation of " + std::to_string(m.second) + " bytes";
      return illegalAddress;
    }
  }
  return success;
}

}  // namespace

namespace emulator {

int enqueue(void *stream, std::function<int()> work) {
  std::lock_guard<std::mutex> lock(guard);
  Stream *s = static_cast<Stream *>(stream);
  if (s && s->capture) {
    s->capture->push_back(std::move(work));
    return success;
  }
  return work();
}

}  // namespace emulator

extern "C" {

int cuInit(unsigned) { return success; }
int cuDriverGetVersion(int *v) { return *v = 13000, success; }
int cuDeviceGetCount(int *n) { return *n = 1, success; }
int cuDeviceGet(int *device, int ordinal) { return *device = 0, ordinal ? invalidDevice : success; }
int cuDeviceGetName(char *name, int n, int) { return snprintf(name, n, "host emulator"), success; }
int cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = capacity, success; }
int cuDeviceGetAttribute(int *v, int attribute, int) {
  switch (attribute) {
    case 1: *v = 1024; break;    // threads of a block
    case 10: *v = 32; break;     // threads of a warp
    case 16: *v = 4; break;      // multiprocessors
    case 75: *v = 9; break;      // compute capability, major
    case 76: *v = 0; break;      // and minor
    default: *v = 0;
  }
  return success;
}
int cuDevicePrimaryCtxRetain(void **context, int) { return *context = &memory, success; }
int cuDevicePrimaryCtxRelease_v2(int) { return success; }
int cuCtxSetCurrent(void *) { return success; }
int cuCtxGetCurrent(void **context) { return *context = &memory, success; }
int cuCtxSynchronize(void) { return success; }

int cuGetErrorName(int code, const char **name) {
  switch (code) {
    case invalidValue: *name = "CUDA_ERROR_INVALID_VALUE"; break;
    case outOfMemory: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case invalidDevice: *name = "CUDA_ERROR_INVALID_DEVICE"; break;
    case invalidImage: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
    case invalidHandle: *name = "CUDA_ERROR_INVALID_HANDLE"; break;
    case notFound: *name = "CUDA_ERROR_NOT_FOUND"; break;
    case illegalAddress: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
    case launchFailed: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
    default: *name = "CUDA_ERROR_UNKNOWN";
  }
  return success;
}
int cuGetErrorString(int code, const char **text) {
  static std::string kept;
  std::lock_guard<std::mutex> lock(guard);
  kept = code == launchFailed || code == illegalAddress ? fault : "error " + std::to_string(code) + " of the host emulator";
  *text = kept.c_str();
  return success;
}

int cuMemAlloc_v2(uintptr_t *at, size_t bytes) {
  std::lock_guard<std::mutex> lock(guard);
  if (bytes == 0) return invalidValue;
  if (held + bytes > capacity) return outOfMemory;
  char *block = static_cast<char *>(aligned_alloc(256, (bytes + 2 * redZone + 255) / 256 * 256));
  if (!block) return outOfMemory;
  memset(block, redByte, bytes + 2 * redZone);
  memset(block + redZone, 0xff, bytes);  // NaN until it is written
  *at = reinterpret_cast<uintptr_t>(block + redZone);
  memory[*at] = bytes;
  held += bytes;
  return success;
}
int cuMemFree_v2(uintptr_t at) {
  std::lock_guard<std::mutex> lock(guard);
  auto m = memory.find(at);
  if (m == memory.end()) return invalidValue;
  held -= m->second;
  memory.erase(m);
  free(reinterpret_cast<char *>(at) - redZone);
  return success;
}
int cuMemGetInfo_v2(size_t *left, size_t *total) {
  std::lock_guard<std::mutex> lock(guard);
  return *left = capacity - held, *total = capacity, success;
}
int cuMemHostAlloc(void **at, size_t bytes, unsigned) { return (*at = malloc(bytes)) ? success : outOfMemory; }
int cuMemFreeHost(void *at) { return free(at), success; }
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t n, void *stream) { return copy(reinterpret_cast<void *>(to), from, n, stream, to, 0); }
int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t n, void *stream) { return copy(to, reinterpret_cast<void *>(from), n, stream, from, 0); }
int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t n, void *stream) { return copy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), n, stream, to, from); }
int cuMemsetD8Async(uintptr_t at, unsigned char value, size_t n, void *stream) {
  return enqueue(stream, [=] { return known(at, n) ? (memset(reinterpret_cast<void *>(at), value, n), int(success)) : int(invalidValue); });
}

int cuStreamCreate(void **stream, unsigned) { return *stream = new Stream, success; }
int cuStreamDestroy_v2(void *stream) { return delete static_cast<Stream *>(stream), success; }
int cuStreamSynchronize(void *stream) { return static_cast<Stream *>(stream)->capture ? captureUnsupported : success; }
int cuStreamWaitEvent(void *, void *, unsigned) { return success; }
int cuStreamWriteValue32_v2(void *stream, uintptr_t at, unsigned value, unsigned) {
  return enqueue(stream, [=] { return *reinterpret_cast<unsigned *>(at) = value, int(success); });
}
int cuEventCreate(void **event, unsigned) { return *event = new Event, success; }
int cuEventDestroy_v2(void *event) { return delete static_cast<Event *>(event), success; }
int cuEventRecord(void *event, void *) { return *static_cast<Event *>(event) = Clock::now(), success; }
int cuEventSynchronize(void *) { return success; }
int cuEventElapsedTime_v2(float *milliseconds, void *from, void *to) {
  const std::chrono::duration<float, std::milli> took = *static_cast<Event *>(to) - *static_cast<Event *>(from);
  return *milliseconds = took.count(), success;
}

int cuStreamBeginCapture_v2(void *stream, int) {
  Stream *s = static_cast<Stream *>(stream);
  if (s->capture) return invalidValue;
  return s->capture = new Graph, success;
}
int cuStreamEndCapture(void *stream, void **graph) {
  Stream *s = static_cast<Stream *>(stream);
  *graph = s->capture;
  s->capture = nullptr;
  return *graph ? success : invalidValue;
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) { return *executable = new Graph(*static_cast<Graph *>(graph)), success; }
int cuGraphDestroy(void *graph) { return delete static_cast<Graph *>(graph), success; }
int cuGraphExecDestroy(void *graph) { return delete static_cast<Graph *>(graph), success; }
int cuGraphLaunch(void *graph, void *stream) {
  for (auto &work : *static_cast<Graph *>(graph)) {
    if (const int code = enqueue(stream, work)) return code;
  }
  return success;
}

int cuModuleLoadFatBinary(void **module, const void *image) {
  uint32_t magic;
  memcpy(&magic, image, sizeof magic);
  return *module = &memory, magic == 0xBA55ED50u ? success : invalidImage;
}
int cuModuleUnload(void *) { return success; }
int cuModuleGetFunction(void **function, void *, const char *name) {
  const emulator::Kernel *kernel = emulator::find(name);
  if (!kernel) return notFound;
  return *function = new Function{name, kernel}, success;
}
int cuFuncSetAttribute(void *, int, int) { return success; }
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **) {
  const Function f = *static_cast<Function *>(function);
  // The limits of compute capability 9.0, and the kernel's own.
  if (!gx || !gy || !gz || gx > 2147483647u || gy > 65535 || gz > 65535 || !bx || !by || !bz || bz > 64 ||
      uint64_t(bx) * by * bz > std::min(f.kernel->largestBlock, 1024u) || shared > 227 * 1024) {
    return invalidValue;
  }
  // Arguments are copied, as the driver does: a captured launch is made again later.
  std::vector<uint64_t> words(f.kernel->arguments);
  for (size_t i = 0; i < words.size(); i++) memcpy(&words[i], arguments[i], sizeof words[i]);
  return enqueue(stream, [=]() mutable {
    std::vector<void *> pointers(words.size());
    for (size_t i = 0; i < words.size(); i++) pointers[i] = &words[i];
    return launch(f, {gx, gy, gz}, {bx, by, bz}, pointers.data());
  });
}

}  // extern "C"
