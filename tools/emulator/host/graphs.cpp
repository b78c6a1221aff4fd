// The backend graphs of cuDNN, as far as package cudnn builds them: one convolution or gradient, followed by
// a bias and a ReLU, or by the gradient of a ReLU. There is one engine, number 1, which declares tensor
// cores. It multiplies float after cutting the factors to 10 bits of mantissa, the worst that TF32 may do,
// and bfloat16 exactly. Results are rounded to their type. Like cuDNN's own it writes float from bfloat16
// only if channels are multiples of 8. It writes filter gradients in one type alone, float if it can. It adds
// a bias to bfloat16 in one type alone, bfloat16 if channels are multiples of 16. So no time decides how a
// result is computed. Float without tensor cores is left to the interface without graphs.
#include "convolve.h"
#include "enqueue.h"
#include "formats.h"

#include <cstdint>
#include <cstring>
#include <map>

using emulator::cut;
using emulator::narrow;
using emulator::widen;

namespace {

enum Status { success = 0, badParameter = 2000, notSupported = 3000 };
enum Kind { engine = 2, configuration = 3, heuristic = 4, plan = 5, forward = 10, filterGradient = 11, dataGradient = 12, pointwise = 13 };
enum Attribute {
  pointwiseMode = 0, convolutionStride = 103, convolutionPadding = 105, heuristicMode = 200, heuristicGraph = 201, heuristicResults = 202,
  configurationEngine = 300, configurationKnobs = 302, planConfiguration = 401, planWorkspace = 402,
  forwardConstants = 702, forwardW = 703, forwardX = 704, forwardY = 705, dataConstants = 708, dataW = 709, dataX = 710,
  dataY = 711, filterConstants = 714, filterW = 715, filterX = 716, filterY = 717, pointwiseFunction = 750,
  pointwiseX = 751, pointwiseB = 752, pointwiseY = 753, pointwiseDX = 756, graphOperations = 801, tensorType = 901, tensorSizes = 902, tensorNumber = 906,
  packNumbers = 1000, packAddresses = 1001, engineGraph = 1300, engineNumber = 1301, engineNotes = 1303,
};
enum { typeFloat = 0, typeBFloat16 = 9, modeA = 3, relu = 100, reluGradient = 200, tensorCore = 0 };

// Descriptor is any object of the interface: its attributes as they were set.
struct Descriptor {
  int kind;
  std::map<int, std::vector<unsigned char>> attributes;

  template <class T>
  std::vector<T> all(int attribute) const {
    auto found = attributes.find(attribute);
    if (found == attributes.end()) return {};
    std::vector<T> values(found->second.size() / sizeof(T));
    memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  T one(int attribute) const {
    const std::vector<T> values = all<T>(attribute);
    return values.empty() ? T{} : values[0];
  }
  const Descriptor *at(int attribute) const { return one<const Descriptor *>(attribute); }
  template <class T>
  void set(int attribute, T value) {
    attributes[attribute].assign(reinterpret_cast<unsigned char *>(&value), reinterpret_cast<unsigned char *>(&value + 1));
  }
};

// The sizes of the types of attributes that are not 8 bytes long: data type, boolean, float, modes.
size_t sizeOf(int type) {
  switch (type) {
    case 2: return 1;
    case 1: case 4: case 7: case 8: case 11: case 12: case 14: return 4;
  }
  return 8;
}

// Tensor is one that a graph reads or writes.
struct Tensor {
  int64_t number = 0;
  int type = typeFloat;
  emulator::Shape shape = {};
  explicit Tensor(const Descriptor *d) {
    if (!d) return;
    const std::vector<int64_t> sizes = d->all<int64_t>(tensorSizes);
    number = d->one<int64_t>(tensorNumber), type = d->one<int>(tensorType);
    if (sizes.size() == 4) shape = {int(sizes[0]), int(sizes[1]), int(sizes[2]), int(sizes[3])};
  }
};

// Job is a graph, understood.
struct Job {
  int kind = 0, pad = 0, stride = 1;
  Tensor x{nullptr}, w{nullptr}, y{nullptr}, bias{nullptr}, mask{nullptr};
  bool clamp = false;

  explicit Job(const Descriptor *graph) {
    for (const Descriptor *operation : graph->all<const Descriptor *>(graphOperations)) {
      if (operation->kind == pointwise) {
        const int mode = operation->at(pointwiseFunction)->one<int>(pointwiseMode);
        if (mode == reluGradient) {
          mask = Tensor(operation->at(pointwiseX)), x = Tensor(operation->at(pointwiseDX));
          continue;
        }
        clamp |= mode == relu;
        if (operation->at(pointwiseB)) bias = Tensor(operation->at(pointwiseB));
        y = Tensor(operation->at(pointwiseY));
        continue;
      }
      const int first = operation->kind == forward ? forwardConstants : operation->kind == dataGradient ? dataConstants : filterConstants;
      kind = operation->kind;
      pad = int(operation->at(first)->one<int64_t>(convolutionPadding));
      stride = int(operation->at(first)->one<int64_t>(convolutionStride));
      w = Tensor(operation->at(first + 1)), x = Tensor(operation->at(first + 2)), y = Tensor(operation->at(first + 3));
    }
  }

  emulator::Conv conv() const { return {x.shape, w.shape, y.shape, pad, stride}; }
  const Tensor &result() const { return kind == forward ? y : kind == dataGradient ? x : w; }
  const Tensor &operand() const { return kind == forward ? x : y; }

  bool supported() const {
    if (!conv().fits()) return false;
    const int in = operand().type, out = result().type;
    if (in != typeFloat && in != typeBFloat16) return false;
    if ((kind == filterGradient ? x : w).type != in) return false;
    if (bias.number && bias.type != (in == typeBFloat16 && out == in && y.shape.c % 16 == 0 ? typeBFloat16 : typeFloat)) return false;
    if (mask.number && (mask.type != in || out != in || x.shape.c % 8)) return false;
    const bool wide = in == typeBFloat16 && x.shape.c % 8 == 0 && (kind == forward || y.shape.c % 8 == 0);
    if (kind == filterGradient && wide) return out == typeFloat;
    return out == in || (out == typeFloat && wide);
  }
};

// numbers are the elements of a tensor.
std::vector<float> numbers(const Tensor &t, const void *at) {
  std::vector<float> values(size_t(t.shape.n) * t.shape.c * t.shape.h * t.shape.w);
  for (size_t i = 0; i < values.size(); i++) {
    values[i] = t.type == typeBFloat16 ? widen(static_cast<const uint16_t *>(at)[i]) : static_cast<const float *>(at)[i];
  }
  return values;
}

// factors are the elements of an operand as they are multiplied.
std::vector<float> factors(const Tensor &t, const void *at) {
  std::vector<float> values = numbers(t, at);
  if (t.type == typeFloat) {
    for (float &v : values) v = cut(v);
  }
  return values;
}

int write(const emulator::Sums &sums, int type, void *to) {
  for (size_t i = 0; i < sums.size(); i++) {
    if (type == typeBFloat16) {
      static_cast<uint16_t *>(to)[i] = narrow(float(sums[i]));
    } else {
      static_cast<float *>(to)[i] = float(sums[i]);
    }
  }
  return success;
}

// beside is the bias or the mask, if there is one. A bias is not a factor: it is not cut.
int run(const Job &j, void *x, void *w, void *y, const void *beside) {
  const emulator::Conv c = j.conv();
  if (j.kind == dataGradient) {
    emulator::Sums sums = emulator::dataGradient(c, factors(j.y, y).data(), factors(j.w, w).data());
    const std::vector<float> mask = j.mask.number ? numbers(j.mask, beside) : std::vector<float>();
    for (size_t i = 0; i < mask.size(); i++) {
      if (!(mask[i] > 0)) sums[i] = 0;
    }
    return write(sums, j.x.type, x);
  }
  if (j.kind == filterGradient) return write(emulator::filterGradient(c, factors(j.x, x).data(), factors(j.y, y).data()), j.w.type, w);
  const std::vector<float> bias = j.bias.number ? numbers(j.bias, beside) : std::vector<float>();
  return write(emulator::forward(c, factors(j.x, x).data(), factors(j.w, w).data(), j.bias.number ? bias.data() : nullptr, j.clamp), j.y.type, y);
}

const int64_t onlyEngine = 1;

const Descriptor *graphOfPlan(const Descriptor *d) { return d->at(planConfiguration)->at(configurationEngine)->at(engineGraph); }

}  // namespace

extern "C" {

int cudnnBackendCreateDescriptor(int kind, void **d) { return *d = new Descriptor{kind, {}}, success; }
int cudnnBackendDestroyDescriptor(void *d) { return delete static_cast<Descriptor *>(d), success; }
int cudnnBackendSetAttribute(void *d, int attribute, int type, int64_t count, const void *values) {
  const unsigned char *bytes = static_cast<const unsigned char *>(values);
  static_cast<Descriptor *>(d)->attributes[attribute].assign(bytes, bytes + count * sizeOf(type));
  return success;
}
int cudnnBackendFinalize(void *d) {
  const Descriptor *o = static_cast<Descriptor *>(d);
  switch (o->kind) {
    case heuristic: return o->one<int>(heuristicMode) == modeA && Job(o->at(heuristicGraph)).supported() ? success : notSupported;
    case engine: return o->one<int64_t>(engineNumber) == onlyEngine ? success : badParameter;
    case plan: return Job(graphOfPlan(o)).supported() ? success : notSupported;
  }
  return success;
}
int cudnnBackendGetAttribute(void *d, int attribute, int, int64_t room, int64_t *count, void *values) {
  const Descriptor *o = static_cast<Descriptor *>(d);
  if (room < 1) return badParameter;
  *count = 1;
  switch (attribute) {
    case heuristicResults: static_cast<Descriptor **>(values)[0]->set(engineGraph, o->at(heuristicGraph)); break;
    case configurationEngine: {
      // The caller's engine descriptor is filled. A plan reads it through the configuration again.
      Descriptor *e = static_cast<Descriptor **>(values)[0];
      e->set(engineGraph, o->at(engineGraph)), e->set(engineNumber, onlyEngine);
      const_cast<Descriptor *>(o)->set(configurationEngine, static_cast<const Descriptor *>(e));
      break;
    }
    case engineNumber: *static_cast<int64_t *>(values) = o->one<int64_t>(engineNumber); break;
    case engineNotes: *static_cast<int *>(values) = tensorCore; break;
    case configurationKnobs: *count = 0; break;
    case planWorkspace: *static_cast<int64_t *>(values) = 0; break;
    default: return badParameter;
  }
  return success;
}
int cudnnBackendExecute(void *handle, void *d, void *pack) {
  const Job job(graphOfPlan(static_cast<Descriptor *>(d)));
  const Descriptor *given = static_cast<Descriptor *>(pack);
  const std::vector<int64_t> numbers = given->all<int64_t>(packNumbers);
  const std::vector<void *> addresses = given->all<void *>(packAddresses);
  std::map<int64_t, void *> at;
  for (size_t i = 0; i < numbers.size() && i < addresses.size(); i++) at[numbers[i]] = addresses[i];
  void *x = at[job.x.number], *w = at[job.w.number], *y = at[job.y.number];
  const int64_t extra = job.bias.number ? job.bias.number : job.mask.number;
  const void *beside = extra ? at[extra] : nullptr;
  if (!x || !w || !y || (extra && !beside)) return badParameter;
  void *stream = *static_cast<void **>(handle);  // the handle of cudnn.cpp begins with it
  return emulator::enqueue(stream, [=] { return run(job, x, w, y, beside); });
}

}  // extern "C"
