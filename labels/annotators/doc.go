// Package annotators weighs the labels of several annotators for each bag: how reliable each of them is, which labels
// are probably true, and how strongly the annotators speak for each.
//
// The model is that of Dawid and Skene (Applied Statistics 28, 1979) for labels of many classes. The true label y of
// bag i and class k is 1 with probability pi_k. Annotator j gives a label that holds unless it is missed, with
// probability q01_j, and one that does not hold with probability q10_j, independently of the others and of other
// classes given the truth. One pair of rates serves all classes of an annotator, drawn towards the rates of all
// annotators together by a beta prior, whose strength is estimated from how much annotators differ.
//
//	E_ik = sum_j log p(x_ijk | y=1) - log p(x_ijk | y=0),   p(y_ik = 1 | labels) = sigmoid(logit pi_k + E_ik)
//
// If every answer has exactly one class, classes exclude each other, and each annotator has a confusion matrix; see
// exclusive.
//
// With out-of-fold logits o of a classifier, alpha_k o_ik + beta_k takes the place of logit pi_k, and one annotator a
// bag is enough.
//
// Everything but logits and files of evidence is float64. N bags are rows, K classes are columns, J is the number of
// annotators. Results depend neither on the number of processors nor on a seed: nothing is drawn.
package annotators
