// Package annotators combines the labels that several annotators gave to the same bags. It estimates how
// reliable each annotator is, which labels are probably true, and how strongly the answers support each
// label.
//
// The model is the one of Dawid and Skene (Applied Statistics 28, 1979), applied to many classes. The true
// label y of bag i and class k is 1 with probability pi_k. Annotator j misses a true label with probability
// q01_j and adds a false one with probability q10_j. Given the truth, answers are independent across
// annotators and classes. Each annotator has one pair of rates for all classes. A beta prior draws these
// rates towards the pooled rates; its strength is estimated from how much annotators differ.
//
//	E_ik = sum_j log p(x_ijk | y=1) - log p(x_ijk | y=0),   p(y_ik = 1 | labels) = sigmoid(logit pi_k + E_ik)
//
// If every answer has exactly one class, classes exclude each other and each annotator has a confusion
// matrix; see exclusive.
//
// With out-of-fold logits o of a classifier, alpha_k o_ik + beta_k replaces logit pi_k, and one annotator per
// bag is enough.
//
// All numbers except logits and evidence files are float64. The N bags are rows, the K classes are columns,
// and J is the number of annotators. Nothing is drawn at random, so results depend neither on the number of
// processors nor on a seed.
package annotators
