// Package eval computes metrics of a multi-label classifier, in float64. It has average precision with human
// agreement (Fang et al., "From Captions to Visual Concepts and Back", CVPR 2015), the metric of Tables 1 to
// 3 of "Learning from Noisy Labels with Noise Modeling Network". It also has the usual multi-label metrics,
// calibration, and the error of estimated noise rates.
//
// [Evaluate] computes all of them in one call. The N bags are rows, and the K classes (words) are columns.
// Matrices are row-major. An undefined figure is NaN in Go and null in JSON, see [Number]. Equal scores keep
// the order of the rows. Results do not depend on the number of processors.
package eval
