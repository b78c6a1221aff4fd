// Convolutions as plain loops. Tensors are NHWC, filters KRSC. Products are summed in
// double and rounded once: closer to the true sum than a card's float32.
#pragma once
#include <cstddef>
#include <vector>

namespace emulator {

// Shape is four sizes: of a tensor n, c, h, w, of a filter k, c, r, s.
struct Shape {
  int n, c, h, w;
};

// The sizes of x, w and y = x * w in a pass.
struct Conv {
  Shape x, w, y;
  int pad, stride;
  bool fits() const {
    return x.c == w.c && y.c == w.n && x.n == y.n && y.h == (x.h + 2 * pad - w.h) / stride + 1 &&
           y.w == (x.w + 2 * pad - w.w) / stride + 1;
  }
  size_t atX(int n, int h, int w_) const { return ((size_t(n) * x.h + h) * x.w + w_) * x.c; }
  size_t atY(int n, int p, int q) const { return ((size_t(n) * y.h + p) * y.w + q) * y.c; }
  size_t atW(int k, int r, int s) const { return ((size_t(k) * w.h + r) * w.w + s) * w.c; }
  // each calls visit(n, p, q, k, r, s, h, column) for all products but the sum over channels.
  template <class F>
  void each(F visit) const {
    for (int n = 0; n < y.n; n++)
      for (int p = 0; p < y.h; p++)
        for (int q = 0; q < y.w; q++)
          for (int r = 0; r < w.h; r++)
            for (int s = 0; s < w.w; s++) {
              const int h = p * stride + r - pad, column = q * stride + s - pad;
              if (h < 0 || column < 0 || h >= x.h || column >= x.w) continue;
              for (int k = 0; k < y.c; k++) visit(n, p, q, k, r, s, h, column);
            }
  }
};

typedef std::vector<double> Sums;

// bias, which may be null, is added to y, and y is clamped at 0 if relu is set.
inline Sums forward(const Conv &c, const float *x, const float *w, const float *bias, bool relu) {
  Sums sums(size_t(c.y.n) * c.y.h * c.y.w * c.y.c);
  c.each([&](int n, int p, int q, int k, int r, int s, int h, int column) {
    const float *a = x + c.atX(n, h, column), *b = w + c.atW(k, r, s);
    double sum = 0;
    for (int i = 0; i < c.x.c; i++) sum += double(a[i]) * b[i];
    sums[c.atY(n, p, q) + k] += sum;
  });
  for (size_t i = 0; i < sums.size(); i++) {
    if (bias) sums[i] += bias[i % c.y.c];
    if (relu && sums[i] < 0) sums[i] = 0;
  }
  return sums;
}

inline Sums dataGradient(const Conv &c, const float *dy, const float *w) {
  Sums sums(size_t(c.x.n) * c.x.h * c.x.w * c.x.c);
  c.each([&](int n, int p, int q, int k, int r, int s, int h, int column) {
    const double d = dy[c.atY(n, p, q) + k];
    const float *b = w + c.atW(k, r, s);
    double *to = &sums[c.atX(n, h, column)];
    for (int i = 0; i < c.x.c; i++) to[i] += d * b[i];
  });
  return sums;
}

inline Sums filterGradient(const Conv &c, const float *x, const float *dy) {
  Sums sums(size_t(c.w.n) * c.w.h * c.w.w * c.w.c);
  c.each([&](int n, int p, int q, int k, int r, int s, int h, int column) {
    const double d = dy[c.atY(n, p, q) + k];
    const float *a = x + c.atX(n, h, column);
    double *to = &sums[c.atW(k, r, s)];
    for (int i = 0; i < c.x.c; i++) to[i] += d * a[i];
  });
  return sums;
}

}  // namespace emulator
