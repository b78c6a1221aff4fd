//go:build cuda

#define _GNU_SOURCE
#include "layer.h"
#include <dlfcn.h>

/* Written by tools/toolkit into libcudnn.a. */
extern const struct {
  const char *name;
  void **slot;
} nmn_cudnn_slots[];

const char *nmn_library_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_GLOBAL) ? NULL : dlerror(); }

const char *nmn_cudnn_open(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) return dlerror();
  for (size_t i = 0; nmn_cudnn_slots[i].name; i++) {
    void *function = dlsym(library, nmn_cudnn_slots[i].name);
    if (function) *nmn_cudnn_slots[i].slot = function;
  }
  return NULL;
}

cudnnStatus_t nmn_cudnn_bind(void *handle, void *stream) { return cudnnSetStream(handle, stream); }

/* The three passes have different types with equal fields. */
#define LIST(type, call)                                                                        \
  do {                                                                                          \
    type found[16];                                                                             \
    int n = 0;                                                                                  \
    cudnnStatus_t status = call;                                                                \
    if (status != CUDNN_STATUS_SUCCESS) return status;                                          \
    for (*count = 0; *count < n && *count < room; ++*count) {                                   \
      list[*count].algorithm = found[*count].algo;                                              \
      list[*count].status = found[*count].status;                                               \
      list[*count].deterministic = found[*count].determinism == CUDNN_DETERMINISTIC;            \
      list[*count].math = found[*count].mathType;                                               \
      list[*count].workspace = found[*count].memory;                                            \
    }                                                                                           \
    return status;                                                                              \
  } while (0)

cudnnStatus_t nmn_cudnn_algorithms(void *handle, int pass, void *x, void *w, void *convolution, void *y,
                                   nmn_algorithm *list, int room, int *count) {
  *count = 0;
  switch (pass) {
  case NMN_FORWARD:
    LIST(cudnnConvolutionFwdAlgoPerf_t,
         cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, convolution, y, 16, &n, found));
  case NMN_DATA:
    LIST(cudnnConvolutionBwdDataAlgoPerf_t,
         cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, w, y, convolution, x, 16, &n, found));
  case NMN_FILTER:
    LIST(cudnnConvolutionBwdFilterAlgoPerf_t,
         cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, x, y, convolution, w, 16, &n, found));
  }
  return CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t nmn_cudnn_destroy_filter(void *filter) { return cudnnDestroyFilterDescriptor(filter); }

static cudnnStatus_t fill(cudnnBackendDescriptor_t pack, int n, const int64_t *numbers, const uint64_t *addresses,
                          uint64_t workspace) {
  void *space = (void *)workspace;
  cudnnStatus_t status =
      cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, n, numbers);
  if (status == CUDNN_STATUS_SUCCESS)
    status = cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n, addresses);
  if (status == CUDNN_STATUS_SUCCESS)
    status = cudnnBackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &space);
  return status == CUDNN_STATUS_SUCCESS ? cudnnBackendFinalize(pack) : status;
}

cudnnStatus_t nmn_cudnn_execute(void *handle, void *plan, int n, const int64_t *numbers, const uint64_t *addresses,
                                uint64_t workspace) {
  cudnnBackendDescriptor_t pack = NULL;
  cudnnStatus_t status = cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = fill(pack, n, numbers, addresses, workspace);
  if (status == CUDNN_STATUS_SUCCESS) status = cudnnBackendExecute(handle, plan, pack);
  cudnnStatus_t destroyed = cudnnBackendDestroyDescriptor(pack);
  return status != CUDNN_STATUS_SUCCESS ? status : destroyed;
}
