/* What gorgonia.org/cu lacks of the driver's interface. */
#ifndef NMN_LAYER_H
#define NMN_LAYER_H
#include <cuda.h>
#include <stdint.h>

/* Opens libcuda and points the trampolines at it. Returns NULL, or why it cannot be opened. Must not be
 * called from two threads at once. */
const char *nmn_driver_open(const char *path);
/* The version of CUDA that the library at a path speaks, 0 where it cannot be opened or does not say. It is closed
 * again, for libraries that are opened later look for libcuda among those that are open. */
int nmn_driver_version(const char *path);
/* The driver's cuInit; the one that gorgonia.org/cu calls when the program starts does nothing. */
CUresult nmn_driver_init(void);

const char *nmn_error_name(CUresult code);
const char *nmn_error_text(CUresult code);

CUresult nmn_host_alloc(void **at, size_t bytes);

/* Launches a kernel with n arguments, at most NMN_ARGUMENTS, of one word each. grid and block have three
 * numbers. gorgonia.org/cu builds the list of arguments in Go, in memory of malloc: storing a pointer there
 * while the garbage collector runs shows it what the memory held before, which may be anything. */
#define NMN_ARGUMENTS 48
CUresult nmn_launch(void *function, const unsigned *grid, const unsigned *block, void *stream, const uint64_t *words,
                    int n);

CUresult nmn_capture_begin(void *stream);
CUresult nmn_capture_end(void *stream, void **graph);
CUresult nmn_captured_destroy(void *graph);
/* Makes a captured graph executable and destroys it, also where that fails. */
CUresult nmn_graph_instantiate(void **executable, void *graph);
CUresult nmn_graph_launch(void *executable, void *stream);
CUresult nmn_graph_destroy(void *executable);
#endif
