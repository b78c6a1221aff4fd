// Package rates estimates how noisy labels are, from scores and labels alone. For each class it estimates q01
// = p(z=0|y=1), the rate of missing labels, and q10 = p(z=1|y=0), the rate of incorrect labels (first index
// observed, second true). It needs no clean labels. It needs scores of bags on which the classifier had not
// been trained (out-of-fold, or online before the first visit): a classifier memorises the noise of its own
// training data, and then no noise is seen. All numbers are float64.
//
// The model of a class is p(z=1|o) = q10 + (1 - q01 - q10) sigmoid(a o + b), with o the logit of a bag. The
// calibration (a, b) corrects scores that are over-confident or shifted. [Estimate] fits the model by
// expectation and maximisation. [Result.Rates] returns rates for training or auditing. [Class.Calibrate]
// returns the calibrated logit. [RaiseToFloor] raises rates to a floor, for noise that depends on the sample.
// [Posterior] returns the probability of a label given its bag's score.
//
// Bags are rows (N), classes are columns (K); matrices are row-major. Results do not depend on the number of
// workers.
package rates
