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
// T and the calibration have the greatest likelihood together, with priors (estimate). Three kinds of noise are fitted:
//
//	Unknown    T_yz = [y=z]
//	Even       T_yz = 1-e where y=z, else e/(K-1)
//	Directed   rows of T have Dirichlet priors around the rows of Even
//
// The likelihood of labels that were held out decides: Directed and Even must gain more than chance gives. A classifier
// that underfits needs no noise to explain its confusion then, for a slope and shifts do.
//
// Noise that depends on the row, such as near the boundary of classes, and labels without noise look the same: the
// likelihood prefers Unknown. The probability of being wrong is then half of what the mean of self-confidence and
// normalised margin, with calibrated scores, lacks of 1, and the suspects are what confident learning prunes by the
// rate of noise (Northcutt, Jiang and Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels", JAIR
// 2021).
//
// Two kinds of noise escape the likelihood and are read off the surest rows of each class (Patrini et al., "Making Deep
// Neural Networks Robust to Label Noise", 2017). A classifier that has learned the noise by heart gives p(z|x), which
// explains all labels without any; its scores pile up at a ceiling, which is a row of T, and an inverse of T takes them
// apart (Learned). Of two or three classes shifts can take the place of a direction; if the surest rows of one class
// have no wrong labels and the surest rows of another do, their labels give T.
//
// Results do not depend on the number of processors.
package multiclass
