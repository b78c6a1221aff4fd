// A libcudnn.so.9 that computes float convolutions on the host by plain loops, with the functions of the
// interface without graphs that package cudnn calls. graphs.cpp has the graphs. Entry points that are missing
// here fail in the program as CUDNN_STATUS_NOT_SUPPORTED. The interface follows cuDNN 9.
#include "convolve.h"
#include "enqueue.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace {

using emulator::Conv;
using emulator::Shape;

enum Status { success = 0, badParameter = 2000, notSupported = 3000 };
enum { typeFloat = 0, formatNHWC = 1, deterministic = 1, fmaMath = 3, activationReLU = 1 };

struct Handle {
  void *stream;
};

struct Constants {
  int pad, stride;
};

Conv joined(const void *x, const void *w, const void *y, const void *constants) {
  return {*static_cast<const Shape *>(x), *static_cast<const Shape *>(w), *static_cast<const Shape *>(y),
          static_cast<const Constants *>(constants)->pad, static_cast<const Constants *>(constants)->stride};
}

int round(const emulator::Sums &sums, float *to) { return std::copy(sums.begin(), sums.end(), to), success; }

// plain returns whether alpha is 1 and beta 0.
bool plain(const void *alpha, const void *beta) {
  float a, b;
  memcpy(&a, alpha, sizeof a);
  memcpy(&b, beta, sizeof b);
  return a == 1 && b == 0;
}

int create(void **descriptor, void *made) { return *descriptor = made, success; }

int setShape(void *descriptor, int format, int type, Shape s) {
  if (format != formatNHWC || type != typeFloat) return notSupported;
  return *static_cast<Shape *>(descriptor) = s, success;
}

// Performance is how the interface describes an algorithm.
struct Performance {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
};

// The one algorithm of every pass. Its number is the one by which cuDNN adds a bias.
int algorithms(const Conv &c, int room, int *count, Performance *list) {
  if (!c.fits() || room < 1) return badParameter;
  *list = {1, success, 0, 0, deterministic, fmaMath, {}};
  return *count = 1, success;
}

}  // namespace

extern "C" {

size_t cudnnGetVersion(void) { return 91300; }
const char *cudnnGetErrorString(int status) { return status == success ? "CUDNN_STATUS_SUCCESS" : status == badParameter ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_NOT_SUPPORTED"; }
void cudnnGetLastErrorString(char *text, size_t room) {
  if (room) *text = 0;
}
int cudnnCreate(void **handle) { return create(handle, new Handle{}); }
int cudnnDestroy(void *handle) { return delete static_cast<Handle *>(handle), success; }
int cudnnSetStream(void *handle, void *stream) { return static_cast<Handle *>(handle)->stream = stream, success; }

int cudnnCreateTensorDescriptor(void **d) { return create(d, new Shape{}); }
int cudnnDestroyTensorDescriptor(void *d) { return delete static_cast<Shape *>(d), success; }
int cudnnSetTensor4dDescriptor(void *d, int format, int type, int n, int c, int h, int w) { return setShape(d, format, type, {n, c, h, w}); }
int cudnnCreateFilterDescriptor(void **d) { return create(d, new Shape{}); }
int cudnnDestroyFilterDescriptor(void *d) { return delete static_cast<Shape *>(d), success; }
int cudnnSetFilter4dDescriptor(void *d, int type, int format, int k, int c, int r, int s) { return setShape(d, format, type, {k, c, r, s}); }
int cudnnCreateConvolutionDescriptor(void **d) { return create(d, new Constants{}); }
int cudnnDestroyConvolutionDescriptor(void *d) { return delete static_cast<Constants *>(d), success; }
int cudnnSetConvolutionMathType(void *, int math) { return math == fmaMath ? success : notSupported; }
int cudnnSetConvolutionGroupCount(void *, int groups) { return groups == 1 ? success : notSupported; }
int cudnnSetConvolution2dDescriptor(void *d, int padH, int padW, int u, int v, int dilationH, int dilationW, int mode, int type) {
  const int crossCorrelation = 1;
  if (padH != padW || u != v || u < 1 || dilationH != 1 || dilationW != 1 || mode != crossCorrelation || type != typeFloat) return notSupported;
  return *static_cast<Constants *>(d) = {padH, u}, success;
}
int cudnnCreateActivationDescriptor(void **d) { return create(d, new int); }
int cudnnDestroyActivationDescriptor(void *d) { return delete static_cast<int *>(d), success; }
int cudnnSetActivationDescriptor(void *d, int mode, int, double) { return *static_cast<int *>(d) = mode, success; }

int cudnnGetConvolutionForwardAlgorithm_v7(void *, void *x, void *w, void *c, void *y, int room, int *count, void *list) { return algorithms(joined(x, w, y, c), room, count, static_cast<Performance *>(list)); }
int cudnnGetConvolutionBackwardDataAlgorithm_v7(void *, void *w, void *y, void *c, void *x, int room, int *count, void *list) { return algorithms(joined(x, w, y, c), room, count, static_cast<Performance *>(list)); }
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void *, void *x, void *y, void *c, void *w, int room, int *count, void *list) { return algorithms(joined(x, w, y, c), room, count, static_cast<Performance *>(list)); }

int cudnnConvolutionForward(void *handle, const void *alpha, void *xd, const float *x, void *wd, const float *w, void *cd, int, void *, size_t, const void *beta, void *yd, float *y) {
  const Conv c = joined(xd, wd, yd, cd);
  if (!c.fits() || !plain(alpha, beta)) return notSupported;
  return emulator::enqueue(static_cast<Handle *>(handle)->stream, [=] { return round(forward(c, x, w, nullptr, false), y); });
}
int cudnnConvolutionBiasActivationForward(void *handle, const void *alpha, void *xd, const float *x, void *wd, const float *w, void *cd, int, void *, size_t, const void *beta, void *, const float *, void *, const float *bias, void *activation, void *yd, float *y) {
  const Conv c = joined(xd, wd, yd, cd);
  if (!c.fits() || !plain(alpha, beta)) return notSupported;
  const bool relu = *static_cast<int *>(activation) == activationReLU;
  return emulator::enqueue(static_cast<Handle *>(handle)->stream, [=] { return round(forward(c, x, w, bias, relu), y); });
}
int cudnnConvolutionBackwardData(void *handle, const void *alpha, void *wd, const float *w, void *yd, const float *dy, void *cd, int, void *, size_t, const void *beta, void *xd, float *dx) {
  const Conv c = joined(xd, wd, yd, cd);
  if (!c.fits() || !plain(alpha, beta)) return notSupported;
  return emulator::enqueue(static_cast<Handle *>(handle)->stream, [=] { return round(dataGradient(c, dy, w), dx); });
}
int cudnnConvolutionBackwardFilter(void *handle, const void *alpha, void *xd, const float *x, void *yd, const float *dy, void *cd, int, void *, size_t, const void *beta, void *wd, float *dw) {
  const Conv c = joined(xd, wd, yd, cd);
  if (!c.fits() || !plain(alpha, beta)) return notSupported;
  return emulator::enqueue(static_cast<Handle *>(handle)->stream, [=] { return round(filterGradient(c, x, dy), dw); });
}

}  // extern "C"
