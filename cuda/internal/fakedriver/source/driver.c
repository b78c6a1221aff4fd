/* A driver without a device, for tests: libcuda.so.1 as package cuda calls it.
 *
 * Memory is the host's. Work on a stream is delayed until something waits for it, and then only the work that must
 * come before runs. This order, one that a device may take, shows a missing event, and memory of the host that was
 * reused too early. Every call can be made to fail, kernels can be made to fault, and memory that was not freed is
 * counted. A call on a thread without a current context fails, as on a device. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_DEVICE = 101,
       INVALID_IMAGE = 200, INVALID_CONTEXT = 201, UNSUPPORTED_LIMIT = 215, NOT_FOUND = 500, NOT_READY = 600, NOT_SUPPORTED = 801,
       CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901 };

typedef struct fake_config {
  int version, devices, capability, init, marks, eager;
  unsigned flags; /* of the primary context before it is opened */
  size_t memory;
} fake_config;

/* ---- state ---- */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fake_config config;
static __thread void *stack[8]; /* of contexts. The thread's current one is on top. */
static __thread int depth;
static int calls, fail_at, fail_code;     /* call number fail_at returns fail_code */
static int launches, fault_at, fault_code; /* launch number fault_at faults when it runs */
static int sticky;                        /* result of every call after a fault */
static size_t used;
static float times[64]; /* results of the next measurements, in milliseconds */
static int time_count, next_time;
static char *text;
static size_t text_size, text_room;

enum kind { MEMORY, HOST, STREAM, EVENT, MODULE, FUNCTION, GRAPH, EXEC, CONTEXT, KINDS };
static const char *const kind_names[KINDS] = {"memory", "pinned memory", "stream", "event", "module",
                                              "function", "graph", "executable graph", "context"};
typedef struct object {
  enum kind kind;
  void *at;
  size_t bytes;
  struct object *next;
} object;
static object *objects;

static void *keep(enum kind kind, void *at, size_t bytes) {
  object *o = malloc(sizeof *o);
  *o = (object){kind, at, bytes, objects};
  objects = o;
  return at;
}

static object *lookup(enum kind kind, const void *at) {
  for (object *o = objects; o; o = o->next)
    if (o->kind == kind && o->at == at) return o;
  return NULL;
}

static int drop(enum kind kind, void *at) {
  for (object **o = &objects; *o; o = &(*o)->next)
    if ((*o)->kind == kind && (*o)->at == at) {
      object *gone = *o;
      *o = gone->next;
      if (kind == MEMORY) used -= gone->bytes;
      free(gone);
      return 1;
    }
  return 0;
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
#include <stdarg.h>
static void note(const char *format, ...) {
  va_list list;
  va_start(list, format);
  char line[256];
  int n = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (n > (int)sizeof line - 1) n = sizeof line - 1;
  if (text_size + n + 2 > text_room) text = realloc(text, text_room = 2 * text_room + 4096);
  memcpy(text + text_size, line, n);
  text_size += n;
  text[text_size++] = '\n';
  text[text_size] = 0;
}

/* ---- work ---- */
enum work { COPY, FILL, RECORD, WAIT, WORD, KERNEL };
struct stream;
typedef struct op {
  enum work work;
  void *dst;
  const void *src;
  size_t bytes;
  int value;
  uint64_t number; /* of an event's record */
  struct event *event;
  const char *kernel;
  uint64_t args[48];
  struct op *next;
} op;
typedef struct stream {
  int id, capturing;
  op *first, **last;
  struct graph *graph;
} stream;
typedef struct event {
  int id;
  unsigned flags;
  uint64_t recorded, happened; /* numbers of the latest record enqueued and run */
  stream *on;
} event;
typedef struct graph {
  op *first, **last;
} graph;
static int next_id;
static unsigned context_flags; /* of the primary context */

static void enqueue(op **first, op ***last, const op *o) {
  op *copy = malloc(sizeof *copy);
  *copy = *o;
  copy->next = NULL;
  if (!*first) *last = first;
  **last = copy;
  *last = &copy->next;
}

static void run_until(stream *s, event *e, uint64_t number);

/* The kernel "arguments" writes its arguments. Every other kernel does nothing. */
static void run_kernel(op *o) {
  if (strcmp(o->kernel, "arguments")) return;
  struct { int32_t i; float f; int64_t l; double d; uint16_t h; } *out = (void *)o->args[0];
  memcpy(&out->i, &o->args[1], 4);
  memcpy(&out->f, &o->args[2], 4);
  memcpy(&out->l, &o->args[3], 8);
  memcpy(&out->d, &o->args[4], 8);
  memcpy(&out->h, &o->args[5], 2);
}

static void run(stream *s, op *o) {
  if (sticky) return;
  switch (o->work) {
  case COPY: memcpy(o->dst, o->src, o->bytes); break;
  case FILL: memset(o->dst, o->value, o->bytes); break;
  case RECORD: o->event->happened = o->number; break;
  case WAIT: if (o->event->on) run_until(o->event->on, o->event, o->number); break;
  case WORD: *(uint32_t *)o->dst = o->value; break;
  case KERNEL:
    if (o->value == fault_at) sticky = fault_code;
    else run_kernel(o);
  }
  (void)s;
}

static int step(stream *s) {
  op *o = s->first;
  if (!o) return 0;
  s->first = o->next;
  run(s, o);
  free(o);
  return 1;
}

static void run_until(stream *s, event *e, uint64_t number) {
  while (e->happened < number && step(s)) {}
}

static void drain(stream *s) {
  while (step(s)) {}
}

static void drain_all(void) {
  for (object *o = objects; o; o = o->next)
    if (o->kind == STREAM) drain(o->at);
}

/* put enqueues work, or captures it. */
static int put(stream *s, op *o) {
  if (s->capturing) enqueue(&s->graph->first, &s->graph->last, o);
  else {
    enqueue(&s->first, &s->last, o);
    if (config.eager) drain(s);
  }
  return OK;
}

/* ---- control ---- */
void fake_reset(fake_config c) {
  pthread_mutex_lock(&lock);
  while (objects) {
    object *next = objects->next;
    free(objects);
    objects = next;
  }
  config = c;
  calls = fail_at = launches = fault_at = sticky = time_count = next_time = 0;
  used = text_size = 0;
  context_flags = c.flags;
  pthread_mutex_unlock(&lock);
}
void fake_fail(int at, int code) { fail_at = at, fail_code = code; }
void fake_fault(int at, int code) { fault_at = at, fault_code = code; }
void fake_time(float ms) { times[time_count++ % 64] = ms; }
int fake_calls(void) { return calls; }
const char *fake_log(void) { return text_size ? text : ""; }

/* fake_live names what has not been freed. Functions live as long as their modules. */
int fake_live(char *out, size_t room) {
  int count = 0;
  size_t n = 0;
  out[0] = 0;
  for (object *o = objects; o; o = o->next)
    if (o->kind != FUNCTION) {
      count++;
      if (n < room) n += snprintf(out + n, room - n, "%s ", kind_names[o->kind]);
    }
  return count;
}

/* ---- calls ---- */
static void *current(void) { return depth ? stack[depth - 1] : NULL; }
static int enter(const char *name, int needs_context) {
  pthread_mutex_lock(&lock);
  calls++;
  if (calls == fail_at) {
    note("%s fails with %d", name, fail_code);
    return fail_code;
  }
  if (sticky) return sticky;
  if (needs_context && !current()) {
    note("%s without a current context", name);
    return INVALID_CONTEXT;
  }
  return OK;
}
static int leave(int code) {
  pthread_mutex_unlock(&lock);
  return code;
}
#define CALL(name, context) \
  int status = enter(name, context); \
  if (status) return leave(status)
#define DONE return leave(OK)
#define WANT(condition, code) \
  if (!(condition)) return leave(code)

int cuInit(unsigned flags) { (void)flags; CALL("cuInit", 0); return leave(config.init); }
int cuDriverGetVersion(int *v) { CALL("cuDriverGetVersion", 0); *v = config.version; DONE; }
int cuDeviceGetCount(int *n) { CALL("cuDeviceGetCount", 0); *n = config.devices; DONE; }
int cuDeviceGet(int *d, int n) { CALL("cuDeviceGet", 0); WANT(n < config.devices, INVALID_DEVICE); *d = n; DONE; }
int cuDeviceGetName(char *s, int n, int d) { CALL("cuDeviceGetName", 0); snprintf(s, n, "Fake %d", d); DONE; }
int cuDeviceTotalMem_v2(size_t *n, int d) { (void)d; CALL("cuDeviceTotalMem", 0); *n = config.memory; DONE; }
int cuDeviceGetAttribute(int *v, int a, int d) {
  (void)d;
  CALL("cuDeviceGetAttribute", 0);
  *v = a == 75 ? config.capability / 10 : a == 76 ? config.capability % 10 : a == 16 ? 132 : 0;
  DONE;
}
int cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *active) {
  (void)d;
  CALL("cuDevicePrimaryCtxGetState", 0);
  *flags = context_flags, *active = lookup(CONTEXT, &config) != NULL;
  DONE;
}
int cuDevicePrimaryCtxSetFlags_v2(int d, unsigned flags) {
  (void)d;
  CALL("cuDevicePrimaryCtxSetFlags", 0);
  context_flags = flags;
  note("cuDevicePrimaryCtxSetFlags %u", flags);
  DONE;
}
int cuDevicePrimaryCtxRetain(void **c, int d) { (void)d; CALL("cuDevicePrimaryCtxRetain", 0); *c = keep(CONTEXT, &config, 0); DONE; }
int cuDevicePrimaryCtxRelease_v2(int d) {
  (void)d;
  pthread_mutex_lock(&lock); /* releases also after a fault */
  calls++;
  int code = drop(CONTEXT, &config) ? calls == fail_at ? fail_code : OK : INVALID_CONTEXT;
  return leave(code);
}
/* The thread's context replaces the top of its stack. Without a context the top is removed. */
int cuCtxSetCurrent(void *c) {
  CALL("cuCtxSetCurrent", 0);
  depth -= depth > 0;
  if (c) stack[depth++] = c;
  DONE;
}
int cuCtxPushCurrent(void *c) {
  CALL("cuCtxPushCurrent", 0);
  WANT(lookup(CONTEXT, c), INVALID_CONTEXT);
  WANT(depth < (int)(sizeof stack / sizeof *stack), OUT_OF_MEMORY);
  stack[depth++] = c;
  DONE;
}
int cuCtxPopCurrent(void **c) {
  CALL("cuCtxPopCurrent", 0);
  WANT(depth, INVALID_CONTEXT);
  *c = stack[--depth];
  DONE;
}
int cuCtxGetLimit(size_t *v, int limit) {
  static const size_t limits[] = {1024, 1 << 20, 8 << 20}; /* stack of a thread, printf's buffer, heap */
  CALL("cuCtxGetLimit", 1);
  WANT(limit >= 0 && limit < (int)(sizeof limits / sizeof *limits), UNSUPPORTED_LIMIT);
  *v = limits[limit];
  DONE;
}
int cuCtxSynchronize(void) { CALL("cuCtxSynchronize", 1); drain_all(); return leave(sticky); }
int cuMemGetInfo_v2(size_t *f, size_t *t) { CALL("cuMemGetInfo", 1); *f = config.memory - used, *t = config.memory; DONE; }
int cuMemAlloc_v2(uint64_t *p, size_t n) {
  CALL("cuMemAlloc", 1);
  WANT(n <= config.memory - used, OUT_OF_MEMORY);
  void *at = aligned_alloc(256, (n + 255) / 256 * 256);
  memset(at, 0xff, n); /* quiet NaN: fresh memory is not zero */
  used += n;
  *p = (uint64_t)keep(MEMORY, at, n);
  note("cuMemAlloc %zu", n);
  DONE;
}
/* Calls that free do so even when they report a failure, as after a fault. */
static int release(const char *name, enum kind kind, void *at, int frees) {
  int status = enter(name, 1);
  if (!drop(kind, at)) {
    note("%s of what is not a live %s", name, kind_names[kind]);
    return leave(INVALID_VALUE);
  }
  if (frees) free(at);
  note("%s", name);
  return leave(status);
}
int cuMemFree_v2(uint64_t p) {
  pthread_mutex_lock(&lock);
  drain_all();
  pthread_mutex_unlock(&lock);
  return release("cuMemFree", MEMORY, (void *)p, 1);
}
int cuMemHostAlloc(void **p, size_t n, unsigned flags) { (void)flags; CALL("cuMemHostAlloc", 1); *p = keep(HOST, malloc(n), n); note("cuMemHostAlloc %zu", n); DONE; }
int cuMemFreeHost(void *p) { return release("cuMemFreeHost", HOST, p, 1); }

int cuStreamCreate(void **s, unsigned flags) {
  (void)flags;
  CALL("cuStreamCreate", 1);
  stream *made = calloc(1, sizeof *made);
  made->id = ++next_id;
  *s = keep(STREAM, made, 0);
  DONE;
}
int cuStreamDestroy_v2(void *s) {
  pthread_mutex_lock(&lock);
  if (lookup(STREAM, s)) drain(s);
  pthread_mutex_unlock(&lock);
  return release("cuStreamDestroy", STREAM, s, 0);
}
int cuStreamSynchronize(void *s) {
  CALL("cuStreamSynchronize", 1);
  WANT(lookup(STREAM, s), INVALID_VALUE);
  WANT(!((stream *)s)->capturing, CAPTURE_UNSUPPORTED);
  drain(s);
  note("cuStreamSynchronize");
  return leave(sticky);
}
/* All streams have the device's primary context, the default stream has the thread's. */
int cuStreamGetCtx(void *s, void **c) {
  CALL("cuStreamGetCtx", 1);
  WANT(!s || lookup(STREAM, s), INVALID_VALUE);
  *c = s ? &config : current();
  DONE;
}
int cuEventCreate(void **e, unsigned flags) {
  CALL("cuEventCreate", 1);
  event *made = calloc(1, sizeof *made);
  made->id = ++next_id;
  made->flags = flags;
  *e = keep(EVENT, made, 0);
  DONE;
}
int cuEventDestroy_v2(void *e) { return release("cuEventDestroy", EVENT, e, 0); }
int cuEventRecord(void *e, void *s) {
  CALL("cuEventRecord", 1);
  event *at = e;
  at->on = s;
  op o = {.work = RECORD, .event = e, .number = ++at->recorded};
  note("record");
  return leave(put(s, &o));
}
int cuEventSynchronize(void *e) {
  CALL("cuEventSynchronize", 1);
  event *at = e;
  if (!(at->flags & 1)) note("busy wait for an event"); /* without CU_EVENT_BLOCKING_SYNC */
  if (at->on) run_until(at->on, at, at->recorded);
  return leave(sticky);
}
int cuEventQuery(void *e) {
  CALL("cuEventQuery", 1);
  return leave(((event *)e)->happened < ((event *)e)->recorded ? NOT_READY : OK);
}
int cuEventElapsedTime_v2(float *ms, void *a, void *b) { (void)a, (void)b; CALL("cuEventElapsedTime", 1); *ms = next_time < time_count ? times[next_time++] : 1.5f; DONE; }
int cuEventElapsedTime(float *ms, void *a, void *b) { return cuEventElapsedTime_v2(ms, a, b); }
int cuStreamWaitEvent(void *s, void *e, unsigned flags) {
  (void)flags;
  CALL("cuStreamWaitEvent", 1);
  op o = {.work = WAIT, .event = e, .number = ((event *)e)->recorded};
  note("wait");
  return leave(put(s, &o));
}
int cuStreamWriteValue32_v2(void *s, uint64_t at, uint32_t value, unsigned flags) {
  (void)flags;
  CALL("cuStreamWriteValue32", 1);
  WANT(config.marks, NOT_SUPPORTED);
  op o = {.work = WORD, .dst = (void *)at, .value = (int)value};
  return leave(put(s, &o));
}

static int inside(const void *at, size_t n) {
  for (object *o = objects; o; o = o->next)
    if (o->kind == MEMORY && at >= o->at && (const char *)at + n <= (char *)o->at + o->bytes) return 1;
  return 0;
}
int cuMemsetD8Async(uint64_t p, unsigned char v, size_t n, void *s) {
  CALL("cuMemsetD8Async", 1);
  WANT(inside((void *)p, n), INVALID_VALUE);
  op o = {.work = FILL, .dst = (void *)p, .value = v, .bytes = n};
  return leave(put(s, &o));
}
/* Copies from and to the host read and write its memory when they run, pinned or not, as on hosts where the device
 * reads pageable memory itself: nothing is copied first. */
int cuMemcpyHtoDAsync_v2(uint64_t d, const void *p, size_t n, void *s) {
  CALL("cuMemcpyHtoDAsync", 1);
  WANT(inside((void *)d, n), INVALID_VALUE);
  op o = {.work = COPY, .dst = (void *)d, .src = p, .bytes = n};
  int pinned = 0;
  for (object *at = objects; at; at = at->next)
    pinned |= at->kind == HOST && p >= at->at && (const char *)p < (char *)at->at + at->bytes;
  note("upload %zu%s", n, pinned ? " pinned" : "");
  return leave(put(s, &o));
}
int cuMemcpyDtoHAsync_v2(void *p, uint64_t d, size_t n, void *s) {
  CALL("cuMemcpyDtoHAsync", 1);
  WANT(inside((void *)d, n), INVALID_VALUE);
  op o = {.work = COPY, .dst = p, .src = (void *)d, .bytes = n};
  note("download %zu", n);
  return leave(put(s, &o));
}
int cuMemcpyDtoDAsync_v2(uint64_t d, uint64_t p, size_t n, void *s) {
  CALL("cuMemcpyDtoDAsync", 1);
  WANT(inside((void *)d, n) && inside((void *)p, n), INVALID_VALUE);
  op o = {.work = COPY, .dst = (void *)d, .src = (void *)p, .bytes = n};
  return leave(put(s, &o));
}

/* An image comes from a test, or begins like nvcc's output. */
static int is_image(const void *image) {
  uint32_t magic;
  memcpy(&magic, image, sizeof magic);
  return magic == 0xba55ed50 || !strncmp(image, "fake fatbin", 11);
}
int cuModuleLoadFatBinary(void **m, const void *image) {
  CALL("cuModuleLoadFatBinary", 1);
  WANT(is_image(image), INVALID_IMAGE);
  *m = keep(MODULE, malloc(1), 0);
  DONE;
}
int cuModuleUnload(void *m) { return release("cuModuleUnload", MODULE, m, 1); }
int cuModuleGetFunction(void **f, void *m, const char *name) {
  (void)m;
  CALL("cuModuleGetFunction", 1);
  WANT(strcmp(name, "missing"), NOT_FOUND);
  *f = keep(FUNCTION, strdup(name), 0);
  DONE;
}
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *s, void **args, void **extra) {
  (void)shared, (void)extra;
  CALL("cuLaunchKernel", 1);
  WANT(lookup(FUNCTION, f) && gx && gy && gz && bx && by && bz && bx * by * bz <= 1024, INVALID_VALUE);
  op o = {.work = KERNEL, .kernel = f, .value = ++launches};
  if (!strcmp(f, "arguments"))
    for (int i = 0; i < 6; i++) memcpy(&o.args[i], args[i], 8);
  note("launch %s", (char *)f);
  return leave(put(s, &o));
}

int cuStreamBeginCapture_v2(void *s, int mode) {
  (void)mode;
  CALL("cuStreamBeginCapture", 1);
  stream *at = s;
  at->graph = calloc(1, sizeof *at->graph);
  at->capturing = 1;
  DONE;
}
int cuStreamEndCapture(void *s, void **g) {
  stream *at = s;
  int status = enter("cuStreamEndCapture", 1);
  at->capturing = 0;
  if (status) { /* an invalid capture leaves no graph */
    free(at->graph);
    return leave(status);
  }
  *g = keep(GRAPH, at->graph, 0);
  DONE;
}
int cuGraphDestroy(void *g) { return release("cuGraphDestroy", GRAPH, g, 0); }
int cuGraphInstantiateWithFlags(void **x, void *g, unsigned long long flags) { (void)flags; CALL("cuGraphInstantiate", 1); graph *copy = malloc(sizeof *copy); *copy = *(graph *)g; *x = keep(EXEC, copy, 0); DONE; }
int cuGraphLaunch(void *x, void *s) {
  CALL("cuGraphLaunch", 1);
  for (op *o = ((graph *)x)->first; o; o = o->next) put(s, o);
  note("launch a graph");
  DONE;
}
int cuGraphExecDestroy(void *x) { return release("cuGraphExecDestroy", EXEC, x, 1); }

int cuGetErrorName(int code, const char **name) {
  static const struct { int code; const char *name; } names[] = {
      {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}, {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"}, {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {214, "CUDA_ERROR_ECC_UNCORRECTABLE"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) return *name = names[i].name, OK;
  return INVALID_VALUE;
}
int cuGetErrorString(int code, const char **words) {
  static __thread char buffer[32];
  snprintf(buffer, sizeof buffer, "fake error %d", code);
  *words = buffer;
  return OK;
}

/* Functions that cuDNN calls before it compiles kernels for a device that is only described. It gets handles
 * without meaning, because nothing is ever launched. */
#define IDLE(name, ...) int name(__VA_ARGS__) { return OK; }
#define MISSING(name) int name(void) { return NOT_SUPPORTED; }
int cuGetExportTable(const void **table) { return *table = NULL, NOT_SUPPORTED; }
int cuCtxGetCurrent(void **c) { return *c = current(), OK; }
int cuLibraryLoadData(void **library) { return *library = &config, OK; }
int cuLibraryGetKernel(void **kernel) { return *kernel = &config, OK; }
int cuKernelGetAttribute(int *v) { return *v = 0, OK; }
/* A cluster has at most 8 blocks on every device that has clusters. */
int cuOccupancyMaxPotentialClusterSize(int *n) { return config.capability < 90 ? NOT_SUPPORTED : (*n = 8, OK); }
IDLE(cuLibraryUnload, void)
IDLE(cuKernelSetAttribute, void)
MISSING(cuLibraryLoadFromFile)
MISSING(cuLaunchKernelEx)
MISSING(cuLaunchCooperativeKernel)
MISSING(cuLinkCreate)
MISSING(cuLinkAddData)
MISSING(cuLinkComplete)
MISSING(cuLinkDestroy)
