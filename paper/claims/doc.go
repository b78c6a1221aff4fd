// Package claims tests the claims of the paper "Learning from Noisy Labels with Noise Modeling Network", and further
// ones, on results. Each claim has the published figures, ours with their spread over seeds, and a paired test.
//
//	verdicts := claims.Check(results)
//	err := report.Write(w, report.Markdown, claims.Tables(verdicts)...)
//
// A claim is a list of comparisons: one arm against another at a level of noise, over some words, in one measure. A t
// test of the differences of equal seeds decides each of them. The list of claims is fixed and does not depend on the
// figures: no measure, epoch or level is chosen by its outcome.
package claims
