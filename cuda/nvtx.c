//go:build cuda

#define _GNU_SOURCE
#include "nvtx.h"
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* Of each module of NVTX 3 the number of its functions, counted from 1, and one more. Of the first, CORE,
 * this program calls two; the others are there because a profiler may ask for them. */
enum { CORE = 1, PUSH = 9, POP = 11, MODULES = 7, MOST = 17 };
static const unsigned sizes[MODULES] = {0, 16, 9, 15, 7, 16, 7}; /* -, CORE, CUDA, OPENCL, CUDART, CORE2, SYNC */

typedef void (*function)(void);
static function functions[MODULES][MOST];
static function *tables[MODULES][MOST]; /* places of functions; the first and the last are NULL */

static int module_table(int module, function ***table, unsigned *size) {
  if (module < CORE || module >= MODULES) return 0;
  for (unsigned i = 1; i < sizes[module]; i++) tables[module][i] = &functions[module][i];
  if (table) *table = tables[module];
  if (size) *size = sizes[module];
  return 1;
}

static void tell_version(uint32_t version) { (void)version; }

/* Functions that a profiler may ask for. */
static const struct {
  size_t size;
  int (*module_table)(int module, function ***table, unsigned *size);
} callbacks = {sizeof callbacks, module_table};

static const struct {
  size_t size;
  uint32_t version, reserved;
  void (*tell_version)(uint32_t version);
} version = {sizeof version, 3, 0, tell_version};

static const void *export_table(uint32_t id) { return id == 1 ? (const void *)&callbacks : id == 3 ? (const void *)&version : NULL; }

const char *nmn_nvtx_open(const char *path) {
  void *library = dlopen(path, RTLD_LAZY);
  if (!library) return dlerror();
  int (*initialize)(const void *(*)(uint32_t)) = (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2");
  if (!initialize) return "it has no InitializeInjectionNvtx2";
  return initialize(export_table) ? NULL : "it refuses to start";
}

void nmn_nvtx_push(const char *name) {
  if (functions[CORE][PUSH]) ((int (*)(const char *))functions[CORE][PUSH])(name);
}

void nmn_nvtx_pop(void) {
  if (functions[CORE][POP]) ((int (*)(void))functions[CORE][POP])();
}
