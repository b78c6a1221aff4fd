//go:build cuda

#define _GNU_SOURCE
#include "layer.h"
#include <dlfcn.h>
#include <string.h>

/* The functions, by their names without "cublasLt". */
static struct {
  size_t (*GetVersion)(void);
  int (*Create)(void **);
  int (*Destroy)(void *);
  int (*MatmulDescCreate)(void **, int, int);
  int (*MatmulDescDestroy)(void *);
  int (*MatmulDescSetAttribute)(void *, int, const void *, size_t);
  int (*MatrixLayoutCreate)(void **, int, uint64_t, uint64_t, int64_t);
  int (*MatrixLayoutDestroy)(void *);
  int (*MatmulPreferenceCreate)(void **);
  int (*MatmulPreferenceDestroy)(void *);
  int (*MatmulPreferenceSetAttribute)(void *, int, const void *, size_t);
  int (*MatmulAlgoGetHeuristic)(void *, void *, void *, void *, void *, void *, void *, int, nmn_way *, int *);
  int (*MatmulAlgoCheck)(void *, void *, void *, void *, void *, void *, const uint64_t *, nmn_way *);
  int (*Matmul)(void *, void *, const void *, const void *, void *, const void *, void *, const void *, const void *,
                void *, void *, void *, const uint64_t *, void *, size_t, void *);
} lt;

/* Numbers of the interface. */
enum {
  single = 0, /* the type of alpha, beta and the elements of bias */
  transpose_a = 3, transpose_b = 4, epilogue = 7, bias_pointer = 8,
  epilogue_bias = 4,
  most_workspace = 1, reductions = 3, alignment_a = 5, alignment_d = 8, implementations = 12,
  not_initialized = 1
};

/* Sums of parts are added in a separate step, in a fixed order. In place they would be added as they become ready. */
static const uint32_t ordered_reduction = 2;
static const uint32_t aligned_to = 16;

const char *nmn_cublas_open(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
#define FIND(name)                                                     \
  *(void **)&lt.name = dlsym(library, "cublasLt" #name);               \
  if (!lt.name) {                                                      \
    memset(&lt, 0, sizeof lt);                                         \
    dlclose(library);                                                  \
    return "the library lacks cublasLt" #name;                         \
  }
  FIND(GetVersion)
  FIND(Create)
  FIND(Destroy)
  FIND(MatmulDescCreate)
  FIND(MatmulDescDestroy)
  FIND(MatmulDescSetAttribute)
  FIND(MatrixLayoutCreate)
  FIND(MatrixLayoutDestroy)
  FIND(MatmulPreferenceCreate)
  FIND(MatmulPreferenceDestroy)
  FIND(MatmulPreferenceSetAttribute)
  FIND(MatmulAlgoGetHeuristic)
  FIND(MatmulAlgoCheck)
  FIND(Matmul)
  return NULL;
}

size_t nmn_cublas_version(void) { return lt.GetVersion ? lt.GetVersion() : 0; }
int nmn_cublas_create(void **handle) { return lt.Create ? lt.Create(handle) : not_initialized; }
int nmn_cublas_destroy(void *handle) { return lt.Destroy(handle); }

int nmn_cublas_set_bias(nmn_product *p, uint64_t bias) {
  const void *at = (const void *)bias;
  return lt.MatmulDescSetAttribute(p->operation, bias_pointer, &at, sizeof at);
}

static int describe_operation(nmn_product *p, const nmn_wanted *w) {
  int32_t a = w->transpose_a, b = w->transpose_b;
  int status = lt.MatmulDescCreate(&p->operation, w->compute, single);
  if (!status) status = lt.MatmulDescSetAttribute(p->operation, transpose_a, &a, sizeof a);
  if (!status) status = lt.MatmulDescSetAttribute(p->operation, transpose_b, &b, sizeof b);
  if (status || !w->bias) return status;
  uint32_t kind = epilogue_bias;
  status = lt.MatmulDescSetAttribute(p->operation, epilogue, &kind, sizeof kind);
  return status ? status : nmn_cublas_set_bias(p, w->bias);
}

int nmn_cublas_describe(nmn_product *p, const nmn_wanted *w) {
  memset(p, 0, sizeof *p);
  int64_t rows_a = w->transpose_a ? w->k : w->m, columns_a = w->transpose_a ? w->m : w->k;
  int64_t rows_b = w->transpose_b ? w->n : w->k, columns_b = w->transpose_b ? w->k : w->n;
  int status = describe_operation(p, w);
  if (!status) status = lt.MatrixLayoutCreate(&p->a, w->factors, rows_a, columns_a, rows_a);
  if (!status) status = lt.MatrixLayoutCreate(&p->b, w->factors, rows_b, columns_b, rows_b);
  if (!status) status = lt.MatrixLayoutCreate(&p->d, w->result, w->m, w->n, w->m);
  if (status) nmn_cublas_forget(p);
  return status;
}

void nmn_cublas_forget(nmn_product *p) {
  if (p->operation) lt.MatmulDescDestroy(p->operation);
  void *layouts[] = {p->a, p->b, p->d};
  for (int i = 0; i < 3; i++)
    if (layouts[i]) lt.MatrixLayoutDestroy(layouts[i]);
  memset(p, 0, sizeof *p);
}

int nmn_cublas_ways(void *handle, nmn_product *p, uint64_t workspace, uint64_t flags, nmn_way *list, int room,
                    int *count) {
  void *wish = NULL;
  *count = 0;
  int status = lt.MatmulPreferenceCreate(&wish);
  if (status) return status;
  status = lt.MatmulPreferenceSetAttribute(wish, most_workspace, &workspace, sizeof workspace);
  if (!status) status = lt.MatmulPreferenceSetAttribute(wish, reductions, &ordered_reduction, sizeof ordered_reduction);
  if (!status) status = lt.MatmulPreferenceSetAttribute(wish, implementations, &flags, sizeof flags);
  for (int operand = alignment_a; operand <= alignment_d && !status; operand++)
    status = lt.MatmulPreferenceSetAttribute(wish, operand, &aligned_to, sizeof aligned_to);
  if (!status)
    status = lt.MatmulAlgoGetHeuristic(handle, p->operation, p->a, p->b, p->d, p->d, wish, room, list, count);
  lt.MatmulPreferenceDestroy(wish);
  return status;
}

int nmn_cublas_check(void *handle, nmn_product *p, nmn_way *way) {
  nmn_way found;
  memset(&found, 0, sizeof found);
  int status = lt.MatmulAlgoCheck(handle, p->operation, p->a, p->b, p->d, p->d, way->algorithm, &found);
  if (!status) way->workspace = found.workspace;
  return status;
}

int nmn_cublas_run(void *handle, nmn_product *p, const nmn_way *way, uint64_t a, uint64_t b, uint64_t d,
                   uint64_t workspace, uint64_t bytes, void *stream) {
  const float one = 1, none = 0;
  return lt.Matmul(handle, p->operation, &one, (const void *)a, p->a, (const void *)b, p->b, &none, (const void *)d,
                   p->d, (void *)d, p->d, way->algorithm, (void *)workspace, bytes, stream);
}
