// Package claims holds what the paper "Learning from Noisy Labels with Noise Modeling Network" claims, and what goes
// beyond it, against results: claim by claim, with the published figures, ours with their spread over seeds, and a
// paired test.
//
//	verdicts := claims.Check(results)
//	err := report.Write(w, report.Markdown, claims.Tables(verdicts)...)
//
// A claim is a list of comparisons: an arm against another at a level of noise, over some words, in one measure. Each
// is decided by the differences of equal seeds, with a t test. What is asked of the figures stands in the list of
// claims alone and does not depend on them: no measure, epoch or level is chosen by its outcome.
package claims
