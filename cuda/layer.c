//go:build cuda

#define _GNU_SOURCE
#include "layer.h"
#include <dlfcn.h>
#include <stdlib.h>

/* Written by tools/toolkit into libcuda.a. */
extern const struct {
  const char *name;
  void **slot;
} nmn_cuda_slots[];
extern CUresult nmn_real_cuInit(unsigned flags);

const char *nmn_driver_open(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) return dlerror();
  for (size_t i = 0; nmn_cuda_slots[i].name; i++) {
    void *function = dlsym(library, nmn_cuda_slots[i].name);
    if (function) *nmn_cuda_slots[i].slot = function;
  }
  return NULL;
}

int nmn_driver_version(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
  CUresult (*ask)(int *) = (CUresult (*)(int *))dlsym(library, "cuDriverGetVersion");
  int version = 0;
  if (!ask || ask(&version) != CUDA_SUCCESS) version = 0;
  dlclose(library);
  return version;
}

CUresult nmn_driver_init(void) { return nmn_real_cuInit(0); }

const char *nmn_error_name(CUresult code) {
  const char *name = NULL;
  return cuGetErrorName(code, &name) == CUDA_SUCCESS && name ? name : "unknown to this driver";
}

const char *nmn_error_text(CUresult code) {
  const char *text = NULL;
  return cuGetErrorString(code, &text) == CUDA_SUCCESS && text ? text : "no description";
}

CUresult nmn_host_alloc(void **at, size_t bytes) { return cuMemHostAlloc(at, bytes, CU_MEMHOSTALLOC_PORTABLE); }

CUresult nmn_launch(void *function, const unsigned *grid, const unsigned *block, void *stream, const uint64_t *words,
                    int n) {
  void *arguments[NMN_ARGUMENTS];
  for (int i = 0; i < n; i++) arguments[i] = (void *)&words[i];
  return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, stream, arguments,
                        NULL);
}

/* A capture restricts only calls of the capturing thread: uploads of other threads continue. */
CUresult nmn_capture_begin(void *stream) { return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); }

CUresult nmn_capture_end(void *stream, void **graph) { return cuStreamEndCapture(stream, (CUgraph *)graph); }

CUresult nmn_captured_destroy(void *graph) { return cuGraphDestroy(graph); }

CUresult nmn_graph_instantiate(void **executable, void *graph) {
  CUresult code = cuGraphInstantiate((CUgraphExec *)executable, graph, 0);
  CUresult destroyed = cuGraphDestroy(graph);
  return code != CUDA_SUCCESS ? code : destroyed;
}

CUresult nmn_graph_launch(void *executable, void *stream) { return cuGraphLaunch(executable, stream); }

CUresult nmn_graph_destroy(void *executable) { return cuGraphExecDestroy(executable); }
