/* A cuDNN that computes nothing, for tests of its callers. Every call can be made to fail, descriptors that were not
 * destroyed are counted, and runs are recorded. It has three engines for every graph: 7 with a knob, 8 that is not
 * deterministic, and 9 that cannot be built. On request it has more from 20 on that it compiles, also for a described
 * device or by handle alone. It has two algorithms for every convolution without a graph. The text of a plan is the number of its engine. Calls may come from several
 * threads. */
#include <cudnn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls, fail_at, fail_code, live, live_handles, no_engines, compiled, hidden, no_texts;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all of it */
static char text[1 << 16];
static size_t used;

typedef struct { int type, engine, restored, described; } object;

static void note_locked(const char *what, long a, long b) {
  used += snprintf(text + used, sizeof text - used, "%s %ld %ld\n", what, a, b);
  if (used > sizeof text - 256) used = 0;
}
static void note(const char *what, long a, long b) {
  pthread_mutex_lock(&mutex);
  note_locked(what, a, b);
  pthread_mutex_unlock(&mutex);
}
static void count_live(int by) {
  pthread_mutex_lock(&mutex);
  live += by;
  pthread_mutex_unlock(&mutex);
}
static cudnnStatus_t enter(const char *name) {
  pthread_mutex_lock(&mutex);
  int fails = ++calls == fail_at;
  if (fails) note_locked(name, -1, fail_code);
  pthread_mutex_unlock(&mutex);
  return fails ? fail_code : CUDNN_STATUS_SUCCESS;
}
#define CALL(name) \
  cudnnStatus_t status = enter(name); \
  if (status != CUDNN_STATUS_SUCCESS) return status
#define DONE return CUDNN_STATUS_SUCCESS

void fake_reset(void) { calls = fail_at = fail_code = live = live_handles = no_engines = compiled = hidden = no_texts = 0, used = 0, text[0] = 0; }
void fake_fail(int at, int code) { fail_at = at, fail_code = code; }
void fake_no_engines(int yes) { no_engines = yes; }
void fake_compiled(int n, int only_by_handle) { compiled = n, hidden = only_by_handle; }
void fake_no_texts(int yes) { no_texts = yes; }
int fake_calls(void) { return calls; }
int fake_live(void) { return live + live_handles; }
const char *fake_log(void) { return text; }

size_t cudnnGetVersion(void) { return 91300; }
const char *cudnnGetErrorString(cudnnStatus_t s) { return s == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED" : "fake status"; }
void cudnnGetLastErrorString(char *words, size_t room) {
  int full = fail_code == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  snprintf(words, room, "%s", full ? "Error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED; Reason: none" : "fake words");
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *h) { CALL("cudnnCreate"); *h = malloc(8); live_handles++; DONE; }
cudnnStatus_t cudnnDestroy(cudnnHandle_t h) { cudnnStatus_t status = enter("cudnnDestroy"); free(h); live_handles--; return status; }
cudnnStatus_t cudnnSetStream(cudnnHandle_t h, cudaStream_t s) { (void)h; CALL("cudnnSetStream"); note("stream", s != NULL, 0); DONE; }

/* ---- graphs ---- */
cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *d) {
  CALL("cudnnBackendCreateDescriptor");
  object *o = malloc(sizeof *o);
  *o = (object){type, 0, 0, 0};
  *d = (cudnnBackendDescriptor_t)o;
  count_live(1);
  DONE;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d) { free(d); count_live(-1); DONE; }
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t n, const void *values) {
  (void)type;
  CALL("cudnnBackendSetAttribute");
  if (name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX) ((object *)d)->engine = *(const int64_t *)values;
  if (name == CUDNN_ATTR_ENGINECFG_ENGINE || name == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
    ((object *)d)->engine = (*(object *const *)values)->engine;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)
    ((object *)d)->engine = no_texts ? 9 : atoi(values), ((object *)d)->restored = 1;
  if (name == CUDNN_ATTR_ENGINEHEUR_DEVICEPROP || name == CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP) ((object *)d)->described = 1;
  if (name == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) note("tensors", n, 0);
  DONE;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d) {
  CALL("cudnnBackendFinalize");
  object *o = (object *)d;
  if (o->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR && o->engine == 9) return CUDNN_STATUS_NOT_SUPPORTED;
  if (o->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR && o->engine >= 20 && !o->restored) {
    if (hidden && o->described) return CUDNN_STATUS_NOT_SUPPORTED;
    note("compile", o->engine, o->described);
  }
  if (o->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR && o->engine > 100) return CUDNN_STATUS_BAD_PARAM;
  DONE;
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t room, int64_t *count, void *values) {
  (void)type;
  CALL("cudnnBackendGetAttribute");
  object *o = (object *)d;
  *count = 1;
  switch (name) {
  case CUDNN_ATTR_ENGINEHEUR_RESULTS:
    *count = no_engines ? 0 : hidden && o->described ? 3 : 3 + compiled;
    for (int i = 0; i < *count; i++) ((object **)values)[i]->engine = i < 3 ? 7 + i : 17 + i;
    break;
  case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
    *count = o->engine >= 20;
    *(cudnnBackendBehaviorNote_t *)values = CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
    break;
  case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION:
    if (no_texts) return CUDNN_STATUS_NOT_SUPPORTED;
    *count = 1 + snprintf(values, room, "%d", o->engine);
    break;
  case CUDNN_ATTR_ENGINECFG_ENGINE: ((object **)values)[0]->engine = o->engine; break;
  case CUDNN_ATTR_ENGINE_GLOBAL_INDEX: *(int64_t *)values = o->engine; break;
  case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
    *count = o->engine == 8;
    *(cudnnBackendNumericalNote_t *)values = CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    break;
  case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: *count = o->engine == 7; break;
  case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE: *(cudnnBackendKnobType_t *)values = 2; break;
  case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE: *(int64_t *)values = 5; break;
  case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: *(int64_t *)values = 1000; break;
  default: return CUDNN_STATUS_BAD_PARAM;
  }
  DONE;
}
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t h, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  (void)h, (void)pack;
  CALL("cudnnBackendExecute");
  note("graph", ((object *)plan)->engine, 0);
  DONE;
}

/* ---- convolutions without graphs ---- */
#define OBJECT(name, type) \
  cudnnStatus_t cudnnCreate##name##Descriptor(type *d) { CALL("cudnnCreate" #name "Descriptor"); *d = malloc(8); DONE; } \
  cudnnStatus_t cudnnDestroy##name##Descriptor(type d) { free(d); DONE; }
OBJECT(Tensor, cudnnTensorDescriptor_t)
OBJECT(Convolution, cudnnConvolutionDescriptor_t)
OBJECT(Activation, cudnnActivationDescriptor_t)
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *d) { CALL("cudnnCreateFilterDescriptor"); *d = malloc(8); count_live(1); DONE; }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t d) { free(d); count_live(-1); DONE; }
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t d, cudnnTensorFormat_t f, cudnnDataType_t t, int n, int c, int h, int w) { (void)d, (void)f, (void)t, (void)n, (void)c, (void)h, (void)w; CALL("cudnnSetTensor4dDescriptor"); DONE; }
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t t, cudnnTensorFormat_t f, int k, int c, int h, int w) { (void)d, (void)f, (void)t, (void)k, (void)c, (void)h, (void)w; CALL("cudnnSetFilter4dDescriptor"); DONE; }
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t m) { (void)d; CALL("cudnnSetConvolutionMathType"); note("math", m, 0); DONE; }
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int g) { (void)d, (void)g; CALL("cudnnSetConvolutionGroupCount"); DONE; }
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t d, int ph, int pw, int u, int v, int dh, int dw, cudnnConvolutionMode_t m, cudnnDataType_t t) { (void)d, (void)ph, (void)pw, (void)u, (void)v, (void)dh, (void)dw, (void)m, (void)t; CALL("cudnnSetConvolution2dDescriptor"); DONE; }
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t d, cudnnActivationMode_t m, cudnnNanPropagation_t n, double c) { (void)d, (void)m, (void)n, (void)c; CALL("cudnnSetActivationDescriptor"); DONE; }

/* Algorithm 1 fits; 0 is not deterministic. */
#define ALGORITHMS(call, type, ...) \
  cudnnStatus_t call(cudnnHandle_t h, __VA_ARGS__, const int room, int *n, type *list) { \
    (void)h, (void)a, (void)b, (void)c, (void)d, (void)room; \
    CALL(#call); \
    memset(list, 0, 2 * sizeof *list); \
    list[0].determinism = CUDNN_NON_DETERMINISTIC; \
    list[1].algo = 1, list[1].determinism = CUDNN_DETERMINISTIC, list[1].memory = 2000; \
    list[0].mathType = list[1].mathType = CUDNN_FMA_MATH; \
    *n = 2; \
    DONE; \
  }
ALGORITHMS(cudnnGetConvolutionForwardAlgorithm_v7, cudnnConvolutionFwdAlgoPerf_t, const cudnnTensorDescriptor_t a, const cudnnFilterDescriptor_t b, const cudnnConvolutionDescriptor_t c, const cudnnTensorDescriptor_t d)
ALGORITHMS(cudnnGetConvolutionBackwardDataAlgorithm_v7, cudnnConvolutionBwdDataAlgoPerf_t, const cudnnFilterDescriptor_t a, const cudnnTensorDescriptor_t b, const cudnnConvolutionDescriptor_t c, const cudnnTensorDescriptor_t d)
ALGORITHMS(cudnnGetConvolutionBackwardFilterAlgorithm_v7, cudnnConvolutionBwdFilterAlgoPerf_t, const cudnnTensorDescriptor_t a, const cudnnTensorDescriptor_t b, const cudnnConvolutionDescriptor_t c, const cudnnFilterDescriptor_t d)

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t h, const void *alpha, const cudnnTensorDescriptor_t xd, const void *x, const cudnnFilterDescriptor_t wd, const void *w, const cudnnConvolutionDescriptor_t cd, cudnnConvolutionFwdAlgo_t algo, void *space, size_t bytes, const void *beta, const cudnnTensorDescriptor_t yd, void *y) {
  (void)h, (void)alpha, (void)xd, (void)x, (void)wd, (void)w, (void)cd, (void)space, (void)beta, (void)yd, (void)y;
  CALL("cudnnConvolutionForward");
  note("forward", algo, bytes);
  DONE;
}
cudnnStatus_t cudnnConvolutionBiasActivationForward(cudnnHandle_t h, const void *alpha, const cudnnTensorDescriptor_t xd, const void *x, const cudnnFilterDescriptor_t wd, const void *w, const cudnnConvolutionDescriptor_t cd, cudnnConvolutionFwdAlgo_t algo, void *space, size_t bytes, const void *alpha2, const cudnnTensorDescriptor_t zd, const void *z, const cudnnTensorDescriptor_t bd, const void *b, const cudnnActivationDescriptor_t ad, const cudnnTensorDescriptor_t yd, void *y) {
  (void)h, (void)alpha, (void)xd, (void)x, (void)wd, (void)w, (void)cd, (void)space, (void)alpha2, (void)zd, (void)z, (void)bd, (void)b, (void)ad, (void)yd, (void)y;
  CALL("cudnnConvolutionBiasActivationForward");
  note("fused forward", algo, bytes);
  DONE;
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t h, const void *alpha, const cudnnFilterDescriptor_t wd, const void *w, const cudnnTensorDescriptor_t dyd, const void *dy, const cudnnConvolutionDescriptor_t cd, cudnnConvolutionBwdDataAlgo_t algo, void *space, size_t bytes, const void *beta, const cudnnTensorDescriptor_t dxd, void *dx) {
  (void)h, (void)alpha, (void)wd, (void)w, (void)dyd, (void)dy, (void)cd, (void)space, (void)beta, (void)dxd, (void)dx;
  CALL("cudnnConvolutionBackwardData");
  note("data", algo, bytes);
  DONE;
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t h, const void *alpha, const cudnnTensorDescriptor_t xd, const void *x, const cudnnTensorDescriptor_t dyd, const void *dy, const cudnnConvolutionDescriptor_t cd, cudnnConvolutionBwdFilterAlgo_t algo, void *space, size_t bytes, const void *beta, const cudnnFilterDescriptor_t dwd, void *dw) {
  (void)h, (void)alpha, (void)xd, (void)x, (void)dyd, (void)dy, (void)cd, (void)space, (void)beta, (void)dwd, (void)dw;
  CALL("cudnnConvolutionBackwardFilter");
  note("filter", algo, bytes);
  DONE;
}
