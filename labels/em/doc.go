// Package em is the baseline of the paper's appendix ("Learning from Noisy Labels with Noise Modeling
// Network", after Bekker and Goldberger, ICASSP 2016): the classifier and feature-independent noise
// rates are fitted by expectation and maximisation instead of by one gradient through both. Both climb
// the same likelihood; the derivative of the auxiliary function with respect to a logit,
// rho_1 - p1, is the one that the noise model hands to its classifier.
//
// The classifier is whatever implements [Classifier]: a net that is trained on soft targets, or the
// scores of one that stands still ([Fixed]). Everything is float64; N bags are rows, K classes are
// columns, matrices are row-major.
package em
