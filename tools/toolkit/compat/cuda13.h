/* What gorgonia.org/cu v0.9.6 calls by the signatures of CUDA 12, on the headers of CUDA 13.
 *
 * A header that shadows <cuda.h> reaches cu alone; a forced include would also precede the C library's
 * headers in runtime/cgo, before it can define _GNU_SOURCE. */
#ifndef NMN_CUDA13_H
#define NMN_CUDA13_H
#if !defined(__ASSEMBLER__) && CUDA_VERSION >= 13000
#include <stddef.h>
#define NMN_COMPAT static inline __attribute__((unused)) CUresult

NMN_COMPAT nmn_cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device) {
  return cuCtxCreate(context, NULL, flags, device);
}

static inline __attribute__((unused)) CUmemLocation nmn_location(CUdevice device) {
  CUmemLocation at;
  at.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  at.id = device == CU_DEVICE_CPU ? 0 : device;
  return at;
}

NMN_COMPAT nmn_cuMemAdvise(CUdeviceptr at, size_t bytes, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise(at, bytes, advice, nmn_location(device));
}

NMN_COMPAT nmn_cuMemPrefetchAsync(CUdeviceptr at, size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync(at, bytes, nmn_location(device), 0, stream);
}

NMN_COMPAT nmn_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t n) {
  return cuGraphAddDependencies(graph, from, to, NULL, n);
}

NMN_COMPAT nmn_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *n) {
  return cuGraphGetEdges(graph, from, to, NULL, n);
}
#undef NMN_COMPAT

#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuCtxCreate nmn_cuCtxCreate
#define cuMemAdvise nmn_cuMemAdvise
#define cuMemPrefetchAsync nmn_cuMemPrefetchAsync
#define cuGraphAddDependencies nmn_cuGraphAddDependencies
#define cuGraphGetEdges nmn_cuGraphGetEdges
#endif
#endif
