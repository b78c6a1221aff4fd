// Package appendix compares joint training with expectation-maximisation, as the appendix of the paper does on paper.
//
// The appendix says that both maximise the same likelihood of the noisy labels, and that the classifier gets the same
// gradient from both. Solve holds that against numbers, on a small problem whose optimum both can reach: the gradient
// of the operation that trains nets against that of EM's auxiliary function and against differences of the likelihood,
// and the noise rates that both end at. That joint training comes to it earlier, which the paper says without a figure,
// is a matter of nets: Likelihood is how well one explains the noisy labels that it has learned from, after as many
// epochs as another.
package appendix
