// Package crossfit keeps the books of cross-fitting: which bags are held out by which fold, the scores
// of every bag from the net that has not seen it, and the epoch at which such scores explain the noisy
// labels best. Noise can only be estimated from scores of that kind (package rates). The package trains
// nothing and reads no picture.
//
// A [Plan] deals bags to folds; [Scores] gathers the logits of one epoch, fold by fold; a [Curve]
// gathers their losses and finds the best epoch.
package crossfit
