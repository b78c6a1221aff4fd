// Counts the bytes of device memory that a kernel reads and writes, each byte once. The kernels are compiled with
// -fsanitize=thread, which puts a call before every access, and linked without its library: the calls come here.
#include "traffic.h"

#include <cstdint>
#include <cstring>
#include <unordered_map>

namespace {

const uintptr_t pageBytes = 4096;

struct Page {
  unsigned char read[pageBytes], written[pageBytes];  // 1 for a byte that was
};

std::unordered_map<uintptr_t, Page> pages;  // by their number
bool counting;

void note(const void *at, size_t bytes, unsigned char (Page::*what)[pageBytes]) {
  if (!counting) return;
  for (uintptr_t a = reinterpret_cast<uintptr_t>(at), end = a + bytes; a < end;) {
    const uintptr_t offset = a % pageBytes, length = end - a < pageBytes - offset ? end - a : pageBytes - offset;
    memset((pages[a / pageBytes].*what) + offset, 1, length);
    a += length;
  }
}

void noteRead(const void *at, size_t bytes) { note(at, bytes, &Page::read); }
void noteWrite(const void *at, size_t bytes) { note(at, bytes, &Page::written); }

}  // namespace

namespace emulator {

void beginTraffic() { pages.clear(), counting = true; }

void endTraffic() { counting = false; }

Traffic trafficOf(uintptr_t at, size_t bytes) {
  Traffic sum = {};
  for (uintptr_t a = at; a < at + bytes;) {
    const uintptr_t number = a / pageBytes, end = at + bytes < (number + 1) * pageBytes ? at + bytes : (number + 1) * pageBytes;
    const auto page = pages.find(number);
    if (page != pages.end()) {
      for (uintptr_t b = a % pageBytes; b < end - number * pageBytes; b++) {
        sum.read += page->second.read[b], sum.written += page->second.written[b];
      }
    }
    a = end;
  }
  return sum;
}

}  // namespace emulator

// What the compiler calls.
#define ACCESS(bytes)                                                                    \
  void __tsan_read##bytes(void *at) { noteRead(at, bytes); }                             \
  void __tsan_write##bytes(void *at) { noteWrite(at, bytes); }                           \
  void __tsan_unaligned_read##bytes(void *at) { noteRead(at, bytes); }                   \
  void __tsan_unaligned_write##bytes(void *at) { noteWrite(at, bytes); }                 \
  void __tsan_volatile_read##bytes(void *at) { noteRead(at, bytes); }                    \
  void __tsan_volatile_write##bytes(void *at) { noteWrite(at, bytes); }

extern "C" {
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(void *at, size_t bytes) { noteRead(at, bytes); }
void __tsan_write_range(void *at, size_t bytes) { noteWrite(at, bytes); }
void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void *__tsan_memcpy(void *to, const void *from, size_t bytes) { return noteRead(from, bytes), noteWrite(to, bytes), memcpy(to, from, bytes); }
void *__tsan_memset(void *at, int byte, size_t bytes) { return noteWrite(at, bytes), memset(at, byte, bytes); }
void *__tsan_memmove(void *to, const void *from, size_t bytes) { return noteRead(from, bytes), noteWrite(to, bytes), memmove(to, from, bytes); }
}
