// Package multiclass finds labels that are probably wrong where each row has one label, of classes that exclude each
// other. From out-of-fold scores it estimates a transition matrix T of K×K, T_yz = p(z|y) the probability that a row
// of class y is labelled z, and gives for each row the probability that its label is wrong and the class it probably
// belongs to.
//
// The model is that of Dawid and Skene with one annotator and a classifier in the place of the prior:
//
//	p(y|x) = softmax_y(a log p̂_y(x) + b_y)        calibrated scores p̂ of the classifier
//	p(z|x) = sum over y of T_yz p(y|x)
//	ρ_y = p(y|z,x) = T_yz p(y|x) / p(z|x)
//
// T comes from the labels of the anchors of each class, the rows that the scores are surest of (Patrini et al.,
// "Making Deep Neural Networks Robust to Label Noise", 2017), drawn to one rate of errors for all classes, spread
// evenly; a and b have the greatest likelihood, given T, and are found by expectation and maximisation ([Estimate]).
// Confident learning (Northcutt, Jiang and Chuang, JAIR 2021) stands beside it for comparison. Results do not depend
// on the number of processors.
package multiclass
