/* The part of NCCL's interface that is used: own declarations, so that no header of it is needed to build. */
#ifndef NMN_NCCL_LAYER_H
#define NMN_NCCL_LAYER_H
#include <stddef.h>
#include <stdint.h>

/* Opens libnccl. Returns NULL, or why it cannot be opened. */
const char *nmn_nccl_open(const char *path);
int nmn_nccl_version(void); /* 0 before it was opened */
const char *nmn_nccl_error(int code);
const char *nmn_nccl_last_error(void *comm);

typedef struct {
  char bytes[128];
} nmn_id;

int nmn_nccl_unique_id(nmn_id *id);
int nmn_nccl_join(void **comm, int ranks, const nmn_id *id, int rank);
int nmn_nccl_destroy(void *comm);
int nmn_nccl_abort(void *comm);
/* What has gone wrong since, in *code. */
int nmn_nccl_async_error(void *comm, int *code);

/* Numbers that lie in device memory. */
typedef struct {
  uint64_t at;
  int64_t count;
} nmn_span;

/* Sums each span over the ranks, in place and as one launch. */
int nmn_nccl_all_reduce(void *comm, const nmn_span *spans, int n, int type, uintptr_t stream);
int nmn_nccl_broadcast(void *comm, uint64_t at, size_t bytes, uintptr_t stream);
int nmn_nccl_all_gather(void *comm, uint64_t to, uint64_t from, size_t bytes, uintptr_t stream);
#endif
