// Package noise makes labels of a data set wrong on purpose, as people make them wrong, so that one can see how well
// the true ones are learned all the same.
//
// ReplaceCaptions draws the noise of the paper: captions are replaced by those of other bags, and the labels follow.
// FlipLabels flips labels one by one, at rates for each class, where labels do not come from captions:
//
//	drawn, err := noise.ReplaceCaptions(train, 2, seed) // 2 of 5 captions: 40 %
//	noisy, err := drawn.Apply(train)
//	statistics, err := noise.Measure(ctx, train, noisy)
//
// What was drawn is an Injection, which lists every change: it can be written to a file, shared, and applied to the
// same set by another program. Sets that are too large to hold their labels get the same noise from
// WithReplacedCaptions and WithFlippedLabels, which draw it as the labels are read.
package inject
