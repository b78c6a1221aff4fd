// A libcublasLt.so.13 that computes products on the host by plain loops, with the functions that package
// cublas calls. Sums are in double and rounded once. Factors in TF32 are first cut to 10 bits of mantissa, as
// in graphs.cpp. There are two plans for a product, and one of them needs scratch memory. Calls whose results
// a card would not repeat in every run are refused: preferences that allow them, and misplaced operands.
#include "enqueue.h"
#include "formats.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using emulator::cut;
using emulator::narrow;
using emulator::widen;

namespace {

enum Status { success = 0, notInitialized = 1, invalidValue = 7, notSupported = 15 };
enum { typeFloat = 0, typeBFloat16 = 14, compute32F = 68, computeTF32 = 77 };
enum { transposeA = 3, transposeB = 4, epilogue = 7, biasPointer = 8, epilogueBias = 4 };
enum { mostWorkspace = 1, reductionMask = 3, alignmentA = 5, alignmentD = 8 };
const size_t scratch = 64;  // of the second plan, so that too little of it is noticed

struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t ld;
};

struct Operation {
  int compute = 0;
  int32_t transposed[2] = {0, 0};
  uint32_t epilogue = 1;
  const float *bias = nullptr;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t reductions = 7, alignment = 256;
};

struct Way {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

// Job is a product, understood: d, m×n column by column.
struct Job {
  Operation o;
  Layout a, b, d;
  uint64_t m, n, k;
  bool fits() const {
    const bool dense = a.ld == int64_t(a.rows) && b.ld == int64_t(b.rows) && d.ld == int64_t(d.rows);
    return dense && (o.transposed[0] ? a.columns : a.rows) == m && (o.transposed[1] ? b.rows : b.columns) == n &&
           (o.transposed[1] ? b.columns : b.rows) == k;
  }
  bool supported() const {
    if (a.type != b.type || (o.epilogue != 1 && o.epilogue != epilogueBias)) return false;
    if (a.type == typeBFloat16) return o.compute == compute32F && (d.type == typeBFloat16 || d.type == typeFloat);
    return a.type == typeFloat && d.type == typeFloat && (o.compute == compute32F || o.compute == computeTF32);
  }
  // factors are the elements of an operand as they are multiplied, with the inner size running fastest.
  std::vector<double> factors(const Layout &l, const void *at, bool innerFirst) const {
    std::vector<double> values(l.rows * l.columns);
    for (uint64_t column = 0; column < l.columns; column++)
      for (uint64_t row = 0; row < l.rows; row++) {
        const uint64_t i = column * l.rows + row;
        float v = l.type == typeBFloat16 ? widen(static_cast<const uint16_t *>(at)[i]) : static_cast<const float *>(at)[i];
        if (o.compute == computeTF32) v = cut(v);
        values[innerFirst ? i : row * l.columns + column] = v;
      }
    return values;
  }
  int run(const void *x, const void *y, void *to) const {
    const std::vector<double> left = factors(a, x, o.transposed[0]), right = factors(b, y, !o.transposed[1]);
    for (uint64_t column = 0; column < n; column++)
      for (uint64_t row = 0; row < m; row++) {
        double sum = 0;
        for (uint64_t i = 0; i < k; i++) sum += left[row * k + i] * right[column * k + i];
        if (o.epilogue == epilogueBias) sum += o.bias[row];
        if (d.type == typeFloat) static_cast<float *>(to)[column * m + row] = float(sum);
        else static_cast<uint16_t *>(to)[column * m + row] = narrow(float(sum));
      }
    return 0;
  }
};

Job joined(const void *operation, const void *a, const void *b, const void *d) {
  Job j{*static_cast<const Operation *>(operation), *static_cast<const Layout *>(a), *static_cast<const Layout *>(b), *static_cast<const Layout *>(d), 0, 0, 0};
  j.m = j.d.rows, j.n = j.d.columns, j.k = j.o.transposed[0] ? j.a.rows : j.a.columns;
  return j;
}

template <class T>
int take(T &to, const void *from, size_t size) {
  if (size != sizeof to) return invalidValue;
  memcpy(&to, from, sizeof to);
  return success;
}

bool aligned(const void *at) { return at && uintptr_t(at) % 16 == 0; }

}  // namespace

extern "C" {

size_t cublasLtGetVersion(void) { return 130100; }
int cublasLtCreate(void **handle) {
  if (emulator::planned("cublasLtCreate")) return notInitialized;
  return *handle = new int, success;
}
int cublasLtDestroy(void *handle) { return delete static_cast<int *>(handle), success; }

int cublasLtMatmulDescCreate(void **d, int compute, int scale) {
  if (scale != typeFloat) return notSupported;
  Operation *o = new Operation;
  o->compute = compute;
  return *d = o, success;
}
int cublasLtMatmulDescDestroy(void *d) { return delete static_cast<Operation *>(d), success; }
int cublasLtMatmulDescSetAttribute(void *d, int name, const void *from, size_t size) {
  Operation *o = static_cast<Operation *>(d);
  switch (name) {
    case transposeA: return take(o->transposed[0], from, size);
    case transposeB: return take(o->transposed[1], from, size);
    case epilogue: return take(o->epilogue, from, size);
    case biasPointer: return take(o->bias, from, size);
  }
  return invalidValue;
}
int cublasLtMatrixLayoutCreate(void **d, int type, uint64_t rows, uint64_t columns, int64_t ld) { return *d = new Layout{type, rows, columns, ld}, success; }
int cublasLtMatrixLayoutDestroy(void *d) { return delete static_cast<Layout *>(d), success; }
int cublasLtMatmulPreferenceCreate(void **d) { return *d = new Preference, success; }
int cublasLtMatmulPreferenceDestroy(void *d) { return delete static_cast<Preference *>(d), success; }
int cublasLtMatmulPreferenceSetAttribute(void *d, int name, const void *from, size_t size) {
  Preference *p = static_cast<Preference *>(d);
  if (name == mostWorkspace) return take(p->workspace, from, size);
  if (name == reductionMask) return take(p->reductions, from, size);
  if (name >= alignmentA && name <= alignmentD) return take(p->alignment, from, size);
  return success;
}

int cublasLtMatmulAlgoGetHeuristic(void *, void *operation, void *a, void *b, void *c, void *d, void *preference, int room, Way *list, int *count) {
  const Preference *p = static_cast<Preference *>(preference);
  const Job j = joined(operation, a, b, d);
  *count = 0;
  const uint32_t inPlace = 1;
  if (!j.fits() || c != d || p->reductions & inPlace || p->alignment > 16) return invalidValue;
  if (!j.supported()) return notSupported;
  for (uint64_t number = 1; number <= 2 && *count < room; number++) {
    Way way = {};
    way.algorithm[0] = number, way.workspace = number == 2 ? scratch : 0;
    if (way.workspace <= p->workspace) list[(*count)++] = way;
  }
  return success;
}
int cublasLtMatmulAlgoCheck(void *, void *operation, void *a, void *b, void *, void *d, const uint64_t *algorithm, Way *found) {
  const Job j = joined(operation, a, b, d);
  if (!j.fits() || !j.supported() || algorithm[0] < 1 || algorithm[0] > 2) return notSupported;
  found->workspace = algorithm[0] == 2 ? scratch : 0;
  return success;
}
int cublasLtMatmul(void *, void *operation, const void *alpha, const void *x, void *a, const void *y, void *b, const void *beta, const void *c, void *, void *to, void *d, const uint64_t *algorithm, void *workspace, size_t bytes, void *stream) {
  const Job j = joined(operation, a, b, d);
  float one, none;
  memcpy(&one, alpha, sizeof one);
  memcpy(&none, beta, sizeof none);
  if (!j.fits() || one != 1 || none != 0 || c != to || !aligned(x) || !aligned(y) || !aligned(to)) return invalidValue;
  if (!j.supported() || (j.o.epilogue == epilogueBias && !aligned(j.o.bias))) return notSupported;
  if (algorithm[0] == 2 && (!aligned(workspace) || bytes < scratch)) return invalidValue;
  const bool scribbles = algorithm[0] == 2;  // the way may be gone when the work is done
  return emulator::enqueue(stream, [=] {
    if (scribbles) memset(workspace, 0x7f, scratch);
    return j.run(x, y, to);
  });
}

}  // extern "C"
