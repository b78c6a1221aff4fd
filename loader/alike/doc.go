// Package alike finds pictures that look alike: copies, and pictures that were scaled or encoded anew. Each picture is
// read once and keeps a [Look]. [Pairs] compares only those whose perceptual hashes share a part, so that its time
// grows with the number of pictures and not with its square. [Groups] joins what is alike.
//
// Most crops that cut off more than 2 % of a side, and turned and mirrored pictures, have other hashes and are not
// found.
package alike
