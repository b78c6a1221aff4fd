// Package crossfit does the bookkeeping of cross-fitting. It stores which fold holds out which bags, the
// score of every bag from the net that has not seen it, and the epoch at which these scores explain the noisy
// labels best. Noise can only be estimated from such out-of-fold scores (package rates). The package trains
// nothing and reads no picture.
//
// A [Plan] assigns bags to folds; [Scores] gathers the logits of one epoch, fold by fold; a [Curve] gathers
// their losses and finds the best epoch.
package crossfit
