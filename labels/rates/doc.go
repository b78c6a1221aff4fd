// Package rates estimates how labels went wrong, from scores and labels alone and in plain float64:
// for each class q01 = p(z=0|y=1), the rate of missing labels, and q10 = p(z=1|y=0), the rate of
// incorrect ones (first index observed, second true). It needs no clean label, but scores that were
// made for bags that the classifier had not been trained on (out-of-fold, or online before the first
// visit): on its own training data a classifier has learnt the noise, and no noise is seen.
//
// The model of a class is p(z=1|o) = q10 + (1 - q01 - q10) sigmoid(a o + b), with o the logit of a bag:
// scores may be over-confident or shifted, and (a, b) makes up for it. [Estimate] fits it by
// expectation and maximisation, [Result.Rates] gives the rates to those who train or audit,
// [Class.Calibrate] the calibrated logit, [Raise] lifts rates to a floor for noise that depends on the sample,
// and [Posterior] what is believed of a label once its bag has been seen.
//
// Bags are rows (N), classes are columns (K); matrices are row-major. Results do not depend on the
// number of workers.
package rates
