// Package em is the baseline of the paper's appendix ("Learning from Noisy Labels with Noise Modeling
// Network", after Bekker and Goldberger, ICASSP 2016). It fits the classifier and feature-independent noise
// rates by expectation and maximisation instead of by one gradient through both. Both maximise the same
// likelihood. The derivative of the auxiliary function with respect to a logit, rho_1 - p1, equals the
// gradient that the noise model passes to its classifier.
//
// The classifier is any [Classifier]: a net that is trained on soft targets, or the fixed scores of one. All
// numbers are float64. The N bags are rows, the K classes are columns, and matrices are row-major.
//
// # Around a net
//
// To train a net, wrap it in a Classifier and call [Run] once. Run then calls, in this order:
//
//	Logits                       of the net as stage 1 has left it
//	then in each round
//	  Fit(posteriors)            rho_1 of the last logits and rates: a few epochs on them as soft targets
//	  Logits                     of the net that has learned
//
// Logits scores the training set in order, one row for each bag. All scores must be finite, so remove
// unreadable bags from the set first. Fit turns the posteriors into a float32 matrix of soft targets for a
// trainer, bypassing the noise model. Each round continues the training of the net, without a noise model or
// with a frozen one, by a trainer of its own.
//
// The whole state consists of the scores of each round's net and the rates at the start, because the rates of
// a round follow from them. A Classifier that keeps the net of each round (package recipe keeps one in a
// folder per round) can resume after an interruption without further state. It is run from the start, scores
// the nets that it finds instead of training them, and computes the same posteriors and targets again. At the
// end Result.Rates are the rates of the noise model, and the net returns p(y=1|I).
package em
