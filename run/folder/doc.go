// Package folder has what the run folders of classifiers and captioners share: how one is claimed, which of its
// settings a run may go on with, and how what a run computes is hashed.
package folder
