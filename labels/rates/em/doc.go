// Package em is the baseline of the paper's appendix ("Learning from Noisy Labels with Noise Modeling
// Network", after Bekker and Goldberger, ICASSP 2016): the classifier and feature-independent noise
// rates are fitted by expectation and maximisation instead of by one gradient through both. Both climb
// the same likelihood; the derivative of the auxiliary function with respect to a logit,
// rho_1 - p1, is the one that the noise model hands to its classifier.
//
// The classifier is whatever implements [Classifier]: a net that is trained on soft targets, or the
// scores of one that stands still. Everything is float64; N bags are rows, K classes are
// columns, matrices are row-major.
//
// # Around a net
//
// An arm of a training wraps its net in a Classifier and calls [Run] once. Run then calls, in this order:
//
//	Logits                       of the net as stage 1 has left it
//	then in each round
//	  Fit(posteriors)            rho_1 of the last logits and rates: a few epochs on them as soft targets
//	  Logits                     of the net that has learned
//	  Options.AfterRound         the rates and the likelihood of the round
//
// Logits scores the training set in order, one row for each bag; all must be finite, so bags that cannot be read
// are to be taken out of the set before. Fit makes a float32 matrix of the posteriors and gives it to a trainer as soft
// targets, which teach the classifier past the noise model; the net, without a noise model or with a frozen one, is
// trained on from where it stands, by a trainer of its own for each round.
//
// Scores of each round's net and the rates at the start are the whole state, for the rates of a round follow from
// them. A Classifier that keeps the net of each round, as that of package recipe does in a folder a round, needs
// nothing more after an interruption: it is run from the start again, scores the nets that it finds instead of
// training them, and gets the same posteriors, and so the same targets, again. At the end Result.Rates are those of
// the noise model, and the net is p(y=1|I).
package em
