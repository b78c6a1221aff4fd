//go:build cuda

#define _GNU_SOURCE
#include "layer.h"
#include <dlfcn.h>
#include <string.h>

/* The functions, by their names without "nccl". */
static struct {
  int (*GetVersion)(int *);
  int (*GetUniqueId)(nmn_id *);
  const char *(*GetErrorString)(int);
  const char *(*GetLastError)(void *);
  int (*CommInitRank)(void **, int, nmn_id, int);
  int (*CommDestroy)(void *);
  int (*CommAbort)(void *);
  int (*CommGetAsyncError)(void *, int *);
  int (*GroupStart)(void);
  int (*GroupEnd)(void);
  int (*AllReduce)(const void *, void *, size_t, int, int, void *, void *);
  int (*Broadcast)(const void *, void *, size_t, int, int, void *, void *);
  int (*AllGather)(const void *, void *, size_t, int, void *, void *);
} nccl;

/* Numbers of the interface. */
enum { sum = 0, byte = 1, first_rank = 0 };

const char *nmn_nccl_open(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define FIND(name)                                                     \
  *(void **)&nccl.name = dlsym(library, "nccl" #name);                 \
  if (!nccl.name) {                                                    \
    memset(&nccl, 0, sizeof nccl);                                     \
    dlclose(library);                                                  \
    return "the library lacks nccl" #name;                             \
  }
  FIND(GetVersion)
  FIND(GetUniqueId)
  FIND(GetErrorString)
  FIND(GetLastError)
  FIND(CommInitRank)
  FIND(CommDestroy)
  FIND(CommAbort)
  FIND(CommGetAsyncError)
  FIND(GroupStart)
  FIND(GroupEnd)
  FIND(AllReduce)
  FIND(Broadcast)
  FIND(AllGather)
  return NULL;
}

int nmn_nccl_version(void) {
  int version = 0;
  return nccl.GetVersion && !nccl.GetVersion(&version) ? version : 0;
}

const char *nmn_nccl_error(int code) { return nccl.GetErrorString(code); }
const char *nmn_nccl_last_error(void *comm) { return nccl.GetLastError(comm); }
int nmn_nccl_unique_id(nmn_id *id) { return nccl.GetUniqueId(id); }
int nmn_nccl_join(void **comm, int ranks, const nmn_id *id, int rank) { return nccl.CommInitRank(comm, ranks, *id, rank); }
int nmn_nccl_destroy(void *comm) { return nccl.CommDestroy(comm); }
int nmn_nccl_abort(void *comm) { return nccl.CommAbort(comm); }
int nmn_nccl_async_error(void *comm, int *code) { return nccl.CommGetAsyncError(comm, code); }

/* A group begins and ends on one thread, so that it is one call from Go. */
int nmn_nccl_all_reduce(void *comm, const nmn_span *spans, int n, int type, uintptr_t stream) {
  int status = nccl.GroupStart();
  if (status) return status;
  for (int i = 0; i < n && !status; i++) {
    void *at = (void *)spans[i].at;
    status = nccl.AllReduce(at, at, (size_t)spans[i].count, type, sum, comm, (void *)stream);
  }
  int ended = nccl.GroupEnd();
  return status ? status : ended;
}

int nmn_nccl_broadcast(void *comm, uint64_t at, size_t bytes, uintptr_t stream) {
  return nccl.Broadcast((void *)at, (void *)at, bytes, byte, first_rank, comm, (void *)stream);
}

int nmn_nccl_all_gather(void *comm, uint64_t to, uint64_t from, size_t bytes, uintptr_t stream) {
  return nccl.AllGather((void *)from, (void *)to, bytes, byte, comm, (void *)stream);
}
