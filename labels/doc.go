// Package labels groups the work on wrong labels. The packages below it find wrong labels. The package itself
// holds the noise rates of labels, one pair for each class, and reads and writes their files. q.csv has the
// rates of the noise model of a run, rates.csv an estimate from scores. Training, audits and flips accept
// tables of the same form.
//
// The first index of a rate is the observed label z, the second the true label y, as in the paper ("Learning
// from Noisy Labels with Noise Modeling Network"). Q01 = p(z=0|y=1) is the rate at which true labels go
// missing. Q10 = p(z=1|y=0) is the rate at which false labels appear. NaN stands for an unknown rate.
//
// Each folder below answers a question: which label is wrong (audit), how noisy the labels are (rates), which
// caption belongs elsewhere (misplaced), whose labels count (annotators), and what happens if labels get
// noisier (inject).
package labels
