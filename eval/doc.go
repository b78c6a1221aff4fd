// Package eval is for adding or checking a measure of a multi-label classifier, in plain float64: average precision
// with human agreement (Fang et al., "From Captions to Visual Concepts and Back", CVPR 2015), which is the measure of
// Tables 1 to 3 of "Learning from Noisy Labels with Noise Modeling Network"; the usual multi-label measures;
// calibration; and the error of estimated noise rates.
//
// [Evaluate] computes all of them in one call. N bags are rows, K classes (words) are columns;
// matrices are row-major. An undefined figure is NaN in Go and null in JSON, see [Number]. Equal
// scores keep the order of the rows. Results do not depend on the number of processors.
package eval
