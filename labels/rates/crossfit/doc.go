// Package crossfit does the bookkeeping of cross-fitting. A [Plan] assigns bags to folds, and gathers the score of
// every bag from the net that has not seen it. Noise can only be estimated from such out-of-fold scores (package
// rates). The package trains nothing and reads no picture.
package crossfit
