// A libcuda.so.1 that runs kernels on the host, with the functions of the driver that package cuda calls.
// Memory is the host's, between red zones. Entry points that are missing here fail in the program as
// CUDA_ERROR_NOT_SUPPORTED. The interface follows CUDA 13.
#include "enqueue.h"
#include "runtime.h"

#include <cstdio>
#include <cstdlib>
#include <map>

namespace {

enum Code { success = 0, invalidValue = 1, outOfMemory = 2, invalidDevice = 101, invalidImage = 200, invalidHandle = 400, notFound = 500, notReady = 600, illegalAddress = 700, launchFailed = 719, captureUnsupported = 900 };

// The code of a planned failure that leaves a call without effect, though it reports success.
const int ignored = -1;

std::string fault;  // the text of launchFailed and illegalAddress

// Device memory, its size by its address. Allocations have red zones of this size on both sides.
const size_t redZone = 256;
const unsigned char redByte = 0x5a;
std::map<uintptr_t, size_t> memory;
size_t held;

// capacity is 8 GiB, or the number of bytes in NMN_EMULATOR_MEMORY.
size_t capacity() {
  const char *bytes = getenv("NMN_EMULATOR_MEMORY");
  return bytes && *bytes ? strtoull(bytes, nullptr, 10) : size_t(8) << 30;
}

// devices is the number of cards: 1, or NMN_EMULATOR_DEVICES. All share one memory.
int devices() {
  const char *number = getenv("NMN_EMULATOR_DEVICES");
  return number && *number ? atoi(number) : 1;
}

// Pinned memory, its size by its address.
std::map<uintptr_t, size_t> pinned;

bool damaged(uintptr_t at, size_t bytes) {
  const unsigned char *before = reinterpret_cast<unsigned char *>(at - redZone), *after = reinterpret_cast<unsigned char *>(at + bytes);
  for (size_t i = 0; i < redZone; i++) {
    if (before[i] != redByte || after[i] != redByte) return true;
  }
  return false;
}

// inside returns whether one of some blocks holds a whole range.
bool inside(const std::map<uintptr_t, size_t> &blocks, uintptr_t at, size_t bytes) {
  auto next = blocks.upper_bound(at);
  if (next == blocks.begin()) return false;
  --next;
  return at + bytes <= next->first + next->second;
}

bool known(uintptr_t at, size_t bytes) { return inside(memory, at, bytes); }

struct Function {
  std::string name;
  const emulator::Kernel *kernel;
};

using emulator::Call;
using emulator::enqueue;
using emulator::Event;
using emulator::Graph;
using emulator::Stream;

int copy(void *to, const void *from, size_t bytes, void *stream, uintptr_t device, uintptr_t other) {
  return enqueue(stream, [=] {
    if (!known(device, bytes) || (other && !known(other, bytes))) return int(invalidValue);
    memmove(to, from, bytes);
    return int(success);
  });
}

int launch(const Function &f, dim3 grid, dim3 block, void **arguments) {
  if (const int code = emulator::planned("kernel")) {
    fault = "planned fault of " + f.name;
    emulator::breakDevice(code);  // noticed later, by another call
    return success;
  }
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

extern "C" {

int cuInit(unsigned) { return success; }
int cuDriverGetVersion(int *v) { return *v = 13000, success; }
int cuDeviceGetCount(int *n) { return *n = devices(), success; }
int cuDeviceGet(int *device, int ordinal) {
  return *device = ordinal, ordinal < 0 || ordinal >= devices() ? invalidDevice : success;
}
int cuDeviceGetName(char *name, int n, int) { return snprintf(name, n, "host emulator"), success; }
int cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = capacity(), success; }
int cuDeviceGetAttribute(int *v, int attribute, int) {
  switch (attribute) {
    case 1: *v = 1024; break;    // threads of a block
    case 10: *v = 32; break;     // threads of a warp
    case 16: *v = 4; break;      // multiprocessors
    case 36: *v = 3201000; break;  // kHz of the memory
    case 37: *v = 6144; break;     // its bits
    case 75: *v = 9; break;      // compute capability, major
    case 76: *v = 0; break;      // and minor
    default: *v = 0;
  }
  return success;
}
int cuDevicePrimaryCtxRetain(void **context, int) { return *context = emulator::openDevice(), success; }
int cuDevicePrimaryCtxRelease_v2(int) {
  Call call("cuDevicePrimaryCtxRelease");
  return emulator::closeDevice(), success;
}
int cuCtxSetCurrent(void *context) { return emulator::enterContext(context), success; }
int cuCtxGetCurrent(void **context) { return *context = emulator::currentContext(), success; }
int cuCtxSynchronize(void) {
  Call call("cuCtxSynchronize");
  return call.code ? call.code : emulator::finishContext();
}

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
  Call call("cuGetErrorString");
  kept = code == launchFailed || code == illegalAddress ? fault : "error " + std::to_string(code) + " of the host emulator";
  *text = kept.c_str();
  return success;
}

int cuMemAlloc_v2(uintptr_t *at, size_t bytes) {
  Call call("cuMemAlloc");
  if (call.code) return call.code;
  if (bytes == 0) return invalidValue;
  if (held + bytes > capacity()) return outOfMemory;
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
  Call call("cuMemFree");
  emulator::settle();
  auto m = memory.find(at);
  if (m == memory.end()) return invalidValue;
  held -= m->second;
  memory.erase(m);
  free(reinterpret_cast<char *>(at) - redZone);
  return success;
}
int cuMemGetInfo_v2(size_t *left, size_t *total) {
  Call call("cuMemGetInfo");
  if (call.code) return call.code;
  return *left = capacity() - held, *total = capacity(), success;
}
int cuMemHostAlloc(void **at, size_t bytes, unsigned) {
  Call call("cuMemHostAlloc");
  if (call.code) return call.code;
  if (!(*at = malloc(bytes))) return outOfMemory;
  pinned[reinterpret_cast<uintptr_t>(*at)] = bytes;
  return success;
}
int cuMemFreeHost(void *at) {
  Call call("cuMemFreeHost");
  if (!pinned.erase(reinterpret_cast<uintptr_t>(at))) return invalidValue;
  return free(at), success;
}
// Copies read the host's memory when they are done, pinned or not, as on hosts where a card reads pageable memory
// itself.
int cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t n, void *stream) {
  Call call("cuMemcpyHtoDAsync");
  if (call.code) return call.code;
  return copy(reinterpret_cast<void *>(to), from, n, stream, to, 0);
}
int cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t n, void *stream) {
  Call call("cuMemcpyDtoHAsync");
  if (call.code) return call.code;
  return copy(to, reinterpret_cast<void *>(from), n, stream, from, 0);
}
int cuMemcpyDtoDAsync_v2(uintptr_t to, uintptr_t from, size_t n, void *stream) {
  Call call("cuMemcpyDtoDAsync");
  if (call.code) return call.code;
  return copy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), n, stream, to, from);
}
int cuMemsetD8Async(uintptr_t at, unsigned char value, size_t n, void *stream) {
  Call call("cuMemsetD8Async");
  if (call.code) return call.code;
  return enqueue(stream, [=] { return known(at, n) ? (memset(reinterpret_cast<void *>(at), value, n), int(success)) : int(invalidValue); });
}

int cuStreamCreate(void **stream, unsigned) {
  Call call("cuStreamCreate");
  if (call.code) return call.code;
  return *stream = emulator::makeStream(), success;
}
int cuStreamDestroy_v2(void *stream) {
  Call call("cuStreamDestroy");
  return emulator::closeStream(static_cast<Stream *>(stream)), call.code;
}
int cuStreamSynchronize(void *stream) {
  Call call("cuStreamSynchronize");
  if (call.code) return call.code;
  Stream *s = static_cast<Stream *>(stream);
  return s->capture ? int(captureUnsupported) : emulator::finish(s);
}
int cuStreamWaitEvent(void *stream, void *event, unsigned) {
  Call call("cuStreamWaitEvent");
  if (call.code) return call.code == ignored ? success : call.code;
  return emulator::wait(static_cast<Stream *>(stream), static_cast<Event *>(event));
}
int cuStreamWriteValue32_v2(void *stream, uintptr_t at, unsigned value, unsigned) {
  Call call("cuStreamWriteValue32");
  if (call.code) return call.code;
  return enqueue(stream, [=] { return *reinterpret_cast<unsigned *>(at) = value, int(success); });
}
int cuEventCreate(void **event, unsigned) {
  Call call("cuEventCreate");
  if (call.code) return call.code;
  return *event = new Event, success;
}
int cuEventDestroy_v2(void *event) {
  Call call("cuEventDestroy");
  if (emulator::settle()) delete static_cast<Event *>(event);  // work that waits for other ranks may name it
  return call.code;
}
int cuEventRecord(void *event, void *stream) {
  Call call("cuEventRecord");
  if (call.code) return call.code;
  return emulator::record(static_cast<Event *>(event), static_cast<Stream *>(stream));
}
int cuEventSynchronize(void *event) {
  Call call("cuEventSynchronize");
  if (call.code == ignored) return success;
  return call.code ? call.code : emulator::finish(static_cast<const Event *>(event));
}
int cuEventQuery(void *event) {
  Call call("cuEventQuery");
  if (call.code) return call.code;
  return emulator::happened(static_cast<Event *>(event)) ? success : notReady;
}
int cuEventElapsedTime_v2(float *milliseconds, void *from, void *to) {
  return *milliseconds = float(static_cast<Event *>(to)->at - static_cast<Event *>(from)->at) / 1000, success;
}

int cuStreamBeginCapture_v2(void *stream, int) {
  Call call("cuStreamBeginCapture");
  if (call.code) return call.code;
  Stream *s = static_cast<Stream *>(stream);
  if (s->capture) return invalidValue;
  return s->capture = new Graph, success;
}
int cuStreamEndCapture(void *stream, void **graph) {
  Call call("cuStreamEndCapture");
  Stream *s = static_cast<Stream *>(stream);
  *graph = s->capture;
  s->capture = nullptr;
  return call.code ? call.code : *graph ? success : invalidValue;
}
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long) {
  Call call("cuGraphInstantiate");
  if (call.code) return call.code;
  return *executable = new Graph(*static_cast<Graph *>(graph)), success;
}
int cuGraphDestroy(void *graph) { return delete static_cast<Graph *>(graph), success; }
int cuGraphExecDestroy(void *graph) {
  Call call("cuGraphExecDestroy");
  return delete static_cast<Graph *>(graph), call.code;
}
int cuGraphLaunch(void *graph, void *stream) {
  Call call("cuGraphLaunch");
  if (call.code) return call.code;
  for (auto &work : *static_cast<Graph *>(graph)) {
    if (const int code = enqueue(stream, work)) return code;
    if (emulator::broken) break;
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
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **arguments, void **) {
  Call call("cuLaunchKernel");
  if (call.code) return call.code;
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
