// Package multiclass finds labels that are probably wrong in data where each row has exactly one of K
// classes. From out-of-fold scores it estimates a transition matrix T of K×K. T_yz = p(z|y) is the
// probability that a row of class y is labelled z. For each row the package returns the probability that its
// label is wrong, and the class it probably belongs to.
//
// The model is that of Dawid and Skene with one annotator, and with a classifier instead of the prior:
//
//	p(y|x) = softmax_y(a log p̂_y(x) + b_y)        calibrated scores p̂ of the classifier
//	p(z|x) = sum over y of T_yz p(y|x)
//	ρ_y = p(y|z,x) = T_yz p(y|x) / p(z|x)
//
// T and the calibration are fitted together by maximum likelihood with priors (see estimate). Three kinds of
// noise are fitted:
//
//	Unknown    T_yz = [y=z]
//	Even       T_yz = 1-e where y=z, else e/(K-1)
//	Directed   rows of T have Dirichlet priors around the rows of Even
//
// The likelihood of held-out labels decides: Directed and Even must gain more than chance gives. A classifier
// that underfits then needs no noise to explain its confusion, because a slope and shifts explain it.
//
// Noise that depends on the row, such as near the boundary of classes, looks like labels without noise, and
// the likelihood prefers Unknown. The probability of being wrong is then half of one minus the mean of
// self-confidence and normalised margin, with calibrated scores. The suspects are the labels that confident
// learning prunes by the rate of noise (Northcutt, Jiang and Chuang, "Confident Learning: Estimating
// Uncertainty in Dataset Labels", JAIR 2021).
//
// The likelihood misses two kinds of noise, which are read off the surest rows of each class (Patrini et al.,
// "Making Deep Neural Networks Robust to Label Noise", 2017). First, a classifier that has memorised the
// noise gives p(z|x), which explains all labels without any noise. Its scores pile up at a ceiling, which is
// a row of T, and an inverse of T separates them (Learned). Second, with two or three classes shifts can
// imitate a direction. If the surest rows of one class have no wrong labels and the surest rows of another
// do, their labels give T.
//
// Options.Plateau finds a third kind: a direction that the classifier has learned in part. Its surest rows then
// get other labels as often as less sure rows do, and the labels of the surest rows give T. With 3 to 32 classes p(y|x)
// then comes from a mixture, which has a normal distribution of log p̂(x) for each class y, with its own covariance. It
// is fitted to scores and labels by expectation and maximisation.
//
// Results do not depend on the number of processors.
package multiclass
