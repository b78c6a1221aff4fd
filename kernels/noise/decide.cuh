// The contribution of one class of one bag, in double: the algebra of decide.go, which explains the forms.
// The loops over instances are elsewhere.
#pragma once

namespace noise {

struct Decision {
  double p, observed, posterior, loss, dLogit;
  double dO[4];
};

struct Logistic {
  double p, rest;  // sigmoid(x) and sigmoid(-x)
};

static __device__ __forceinline__ Logistic logistic(double x) {
  const double e = exp(-fabs(x)), large = 1 / (1 + e), small = e * large;
  return x >= 0 ? Logistic{large, small} : Logistic{small, large};
}

static __device__ __forceinline__ double softplus(double x) { return fmax(x, 0.0) + log1p(exp(-fabs(x))); }

static __device__ __forceinline__ double logAddExp(double a, double b) {
  return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

// Within this range of log-odds the direct formulae hold. Beyond it decisions are made in logarithms.
const double plainRange = 200;

static __device__ __forceinline__ Decision decideClean(double b, double z) {
  const Logistic l = logistic(b);
  Decision d = {};
  d.p = d.observed = l.p;
  d.posterior = z;
  d.loss = z * softplus(-b) + (1 - z) * softplus(b);
  d.dLogit = (1 - z) * l.p - z * l.rest;
  return d;
}

// Focus is the asymmetric loss. All 0 is the cross-entropy.
struct Focus {
  float positive, negative, margin;
};

// -log p. rest is 1-p, which keeps its digits if it is small.
static __device__ __forceinline__ double nats(double p, double rest) { return rest < 0.5 ? -log1p(-rest) : -log(p); }

// The asymmetric loss of a bag's logit b and a target in [0, 1]: the algebra of focus.go.
inline __device__ __noinline__ Decision decideFocused(double b, double z, Focus f) {
  const Logistic l = logistic(b);
  Decision d = {};
  d.p = d.observed = l.p;
  d.posterior = z;
  if (z > 0) {
    const double weight = z * pow(l.rest, (double)f.positive), nats = softplus(-b);
    d.loss = weight * nats;
    d.dLogit = -weight * (f.positive * l.p * nats + l.rest);
  }
  const double m = l.p - f.margin;
  if (z < 1 && !(m <= 0)) {  // NaN too
    const bool shifted = f.margin > 0;
    const double lost = shifted ? nats(l.rest + f.margin, m) : softplus(b);
    const double share = shifted ? l.rest / (l.rest + f.margin) : 1;
    const double weight = (1 - z) * pow(m, (double)f.negative);
    d.loss += weight * lost;
    d.dLogit += weight * (f.negative * (l.p / m) * l.rest * lost + l.p * share);
  }
  return d;
}

// Neither loss nor gradient, or NaN if the probability is NaN.
static __device__ __forceinline__ Decision decideUnknown(double b) {
  Decision d = {};
  d.p = d.observed = d.posterior = logistic(b).p;
  d.loss = d.dLogit = 0 * d.p;
  return d;
}

// The evidence e is the log-likelihood ratio of the observation: the algebra of evidence.go.
inline __device__ __noinline__ Decision decideEvidence(double b, double e) {
  const Logistic l = logistic(b), rho = logistic(b + e);
  const double x = fabs(e);
  Decision d = {};
  d.p = d.observed = l.p;
  d.posterior = rho.p;
  if (fabs(b) < plainRange) {
    const double favoured = e > 0 ? l.p : l.rest, against = e > 0 ? l.rest : l.p;
    const double excess = -against * expm1(-x) / (favoured + against * exp(-x));
    d.loss = log1p(excess);
    d.dLogit = e > 0 ? -favoured * excess : favoured * excess;
    return d;
  }
  const double toward = e > 0 ? b : -b;  // log-odds of the supported value
  const double loss = -logAddExp(-softplus(-toward), -x - softplus(toward));
  d.loss = loss < 0 ? 0 : loss;
  d.dLogit = e > 0 ? rho.p * l.rest * expm1(-e) : -l.p * rho.rest * expm1(e);
  return d;
}

static __device__ __forceinline__ void setConfidence(Decision &d, double rho0, double rho1, double miss0, double miss1,
                                                     bool seen) {
  double g0 = rho0 * miss0, g1 = rho1 * miss1;
  if (!seen) g0 = -g0, g1 = -g1;
  d.dO[0] = g0, d.dO[1] = g1, d.dO[2] = -g0, d.dO[3] = -g1;
}

// In logarithms, for logits or confidences whose probabilities underflow. Not static: the name of a static
// function that is not inlined would hold a hash of the folder that it was compiled in.
inline __device__ __noinline__ Decision decideExtreme(double b, double a0, double a1, bool seen) {
  const Logistic l = logistic(b), q0 = logistic(a0), q1 = logistic(a1);
  Decision d = {};
  d.p = l.p;
  d.observed = exp(logAddExp(-softplus(-a0) - softplus(b), -softplus(-a1) - softplus(-b)));
  const double sign = seen ? 1 : -1;
  const double logHit0 = -softplus(-sign * a0), logHit1 = -softplus(-sign * a1);
  const double loss = -logAddExp(logHit0 - softplus(b), logHit1 - softplus(-b));
  d.loss = loss < 0 ? 0 : loss;
  const double odds = logHit1 - logHit0;
  const Logistic rho = logistic(b + odds);
  d.posterior = rho.p;
  d.dLogit = odds > 0 ? rho.p * l.rest * expm1(-odds) : -l.p * rho.rest * expm1(odds);
  setConfidence(d, rho.rest, rho.p, seen ? q0.rest : q0.p, seen ? q1.rest : q1.p, seen);
  return d;
}

// a0 and a1 are the log-odds O_1j - O_0j of the transition. seen is the observed label.
static __device__ __forceinline__ Decision decideNoisy(double b, double a0, double a1, bool seen) {
  if (!(fabs(b) < plainRange && fabs(a0) < plainRange && fabs(a1) < plainRange)) {
    return decideExtreme(b, a0, a1, seen);  // NaN too
  }
  const Logistic l = logistic(b), q0 = logistic(a0), q1 = logistic(a1);
  Decision d = {};
  d.p = l.p;
  d.observed = q0.p * l.rest + q1.p * l.p;
  const double hit0 = seen ? q0.p : q0.rest, miss0 = seen ? q0.rest : q0.p;
  const double hit1 = seen ? q1.p : q1.rest, miss1 = seen ? q1.rest : q1.p;
  const double s = hit0 * l.rest + hit1 * l.p;  // p(z|I)
  const double rho0 = hit0 * l.rest / s, rho1 = hit1 * l.p / s;
  const double loss = -log(s);
  d.posterior = rho1;
  d.loss = loss < 0 ? 0 : loss;
  d.dLogit = l.rest * l.p * (hit0 + hit1 > 1 ? miss1 - miss0 : hit0 - hit1) / s;
  setConfidence(d, rho0, rho1, miss0, miss1, seen);
  return d;
}

// Without a label only the probabilities.
static __device__ __forceinline__ Decision observe(double b, double a0, double a1) {
  const Logistic l = logistic(b);
  Decision d = {};
  d.p = l.p;
  d.observed = logistic(a0).p * l.rest + logistic(a1).p * l.p;
  return d;
}

// decideUnknown with a noise model, which predicts the label.
static __device__ __forceinline__ Decision decideUnknownNoisy(double b, double a0, double a1) {
  Decision d = decideNoisy(b, a0, a1, false);
  d.posterior = d.p;
  d.loss = d.dLogit = 0 * d.observed;
  for (int i = 0; i < 4; i++) d.dO[i] = d.loss;
  return d;
}

}  // namespace noise
