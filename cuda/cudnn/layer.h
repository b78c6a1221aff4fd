/* Functions of cuDNN that gorgonia.org/cu/dnn lacks. */
#ifndef NMN_CUDNN_LAYER_H
#define NMN_CUDNN_LAYER_H
#include <cudnn.h>

/* Opens a library for libraries that are opened later. Returns NULL, or the reason why it cannot be opened. */
const char *nmn_library_open(const char *path);
/* Opens libcudnn and points the trampolines at it. Returns NULL, or the reason why it cannot be opened. */
const char *nmn_cudnn_open(const char *path);

cudnnStatus_t nmn_cudnn_bind(void *handle, void *stream);

/* An algorithm of the interface without graphs. */
typedef struct {
  int algorithm, status, deterministic, math;
  size_t workspace;
} nmn_algorithm;

enum { NMN_FORWARD, NMN_DATA, NMN_FILTER };

/* Lists the algorithms of a pass in the order that cuDNN expects them to be fast: x, w, y are the
 * descriptors of input, filter and output or of their gradients. */
cudnnStatus_t nmn_cudnn_algorithms(void *handle, int pass, void *x, void *w, void *convolution, void *y,
                                   nmn_algorithm *list, int room, int *count);
/* Destroys a filter descriptor, which dnn never does. */
cudnnStatus_t nmn_cudnn_destroy_filter(void *filter);

/* Runs a plan: n tensors by their numbers. */
cudnnStatus_t nmn_cudnn_execute(void *handle, void *plan, int n, const int64_t *numbers, const uint64_t *addresses,
                                uint64_t workspace);
#endif
