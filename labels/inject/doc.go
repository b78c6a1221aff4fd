// Package inject makes labels of a data set wrong on purpose, in the ways that human annotators make them
// wrong. You can then measure how well a training still learns the true labels.
//
// ReplaceCaptions replaces captions by captions of other bags, and the labels follow. Uniform is the noise of the
// paper. Other kinds differ in which captions they replace and which bags give them. FlipLabels flips
// labels one by one, at rates for each class, for labels that do not come from captions:
//
//	drawn, err := inject.ReplaceCaptions(train, inject.Uniform, .4, seed) // 2 of 5 captions
//	noisy, err := drawn.Apply(train)
//	statistics, err := inject.Measure(ctx, train, noisy)
//
// The result is an Injection, which lists every change. It can be written to a file, shared, and applied to
// the same set by another program. For sets that are too large to hold their labels in memory,
// WithReplacedCaptions and WithFlippedLabels draw the same noise as the labels are read.
package inject
