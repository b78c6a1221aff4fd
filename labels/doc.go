// Package labels is for work on how labels are wrong: the packages below it find wrong labels, and it holds the noise
// rates of labels, one pair for each class, and the files that keep them. q.csv has the rates of the noise model of a
// run, rates.csv an estimate from scores; tables of the same form are given to a training, to an audit or to flips.
//
// The first index of a rate is the observed label z, the second the true label y, as in the paper ("Learning from
// Noisy Labels with Noise Modeling Network"): Q01 = p(z=0|y=1) is how often a true label goes missing,
// Q10 = p(z=1|y=0) is how often a false one appears. NaN stands for a rate that is unknown.
//
// Each folder below answers a question: which label is wrong (audit), how noisy are the labels (rates), which caption
// belongs elsewhere (misplaced), whose labels count (annotators), and what if labels were noisier (inject).
package labels
