// Package alike finds pictures that look alike: copies, and pictures that were scaled or encoded anew. Each picture is
// read once and leaves a [Look]. [Pairs] compares only pictures whose perceptual hashes share a part, so its time grows
// with the number of pictures and not with its square. [Groups] joins similar pictures.
//
// Turned or mirrored pictures and most crops that cut off more than 2 % of a side have different hashes and
// are not found.
package alike
