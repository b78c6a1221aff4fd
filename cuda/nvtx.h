/* Named ranges for profilers, by the protocol of NVTX 3: a profiler puts the path of its library into
 * NVTX_INJECTION64_PATH, and that library takes the tables of functions which it wants to be called. */
#ifndef NMN_NVTX_H
#define NMN_NVTX_H

/* Opens the profiler's library and hands it the tables. Returns NULL, or why it cannot be done. Must not be
 * called from two threads at once. */
const char *nmn_nvtx_open(const char *path);

/* Begins and ends a range of the calling thread; nothing where no profiler has asked for it. */
void nmn_nvtx_push(const char *name);
void nmn_nvtx_pop(void);
#endif
