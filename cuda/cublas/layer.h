/* The part of cuBLASLt's interface that is used: own declarations, so that no header of it is needed to build. */
#ifndef NMN_CUBLAS_LAYER_H
#define NMN_CUBLAS_LAYER_H
#include <stddef.h>
#include <stdint.h>

/* Opens libcublasLt. Returns NULL, or why it cannot be opened. */
const char *nmn_cublas_open(const char *path);
size_t nmn_cublas_version(void);
int nmn_cublas_create(void **handle);
int nmn_cublas_destroy(void *handle);

/* A way to compute a product, as the library's heuristics describe it: its fields are the library's. */
typedef struct {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} nmn_way;

/* The descriptors of a product. */
typedef struct {
  void *operation, *a, *b, *d;
} nmn_product;

/* A product in column order: d, m×n, is the product of a and b. a is m×k, or k×m if it is transposed. b is k×n, or
 * n×k if it is transposed. compute and the types of elements are the library's numbers. */
typedef struct {
  int compute, factors, result, transpose_a, transpose_b;
  int64_t m, n, k;
  uint64_t bias; /* m numbers that each column of d begins from; 0 for none */
} nmn_wanted;

int nmn_cublas_describe(nmn_product *p, const nmn_wanted *w);
int nmn_cublas_set_bias(nmn_product *p, uint64_t bias);
void nmn_cublas_forget(nmn_product *p);
/* Lists ways within so much scratch memory whose numerical flags are within a mask. */
int nmn_cublas_ways(void *handle, nmn_product *p, uint64_t workspace, uint64_t flags, nmn_way *list, int room,
                    int *count);
/* Asks whether a way that was kept computes a product, and for its scratch memory. */
int nmn_cublas_check(void *handle, nmn_product *p, nmn_way *way);
int nmn_cublas_run(void *handle, nmn_product *p, const nmn_way *way, uint64_t a, uint64_t b, uint64_t d,
                   uint64_t workspace, uint64_t bytes, void *stream);
#endif
