// Package neighbours finds rows that stand apart and rows that are there twice, by the distances of their feature
// vectors ("embeddings") to their k nearest neighbours. The neighbours are exact: every pair of rows is held against
// each other, by blocked matrix products on all processors. N rows are compared in N² products of D numbers, and
// [Find] says what that costs before it begins.
//
// The rules are those of cleanlab's Datalab (Kuan and Mueller, "Back to the Basics: Revisiting Out-of-Distribution
// Detection Baselines", 2022): a row is an outlier by its mean distance to its neighbours, and a near-duplicate where
// the nearest is far nearer than neighbours usually are. Unlike there, near-duplicates form groups: whatever is
// connected.
package neighbours

import "errors"

// ErrValue is wrapped by errors about features or settings from which no neighbours can be found.
var ErrValue = errors.New("value not allowed")

// ErrCost is wrapped by the error of a search that would take longer than allowed.
var ErrCost = errors.New("too many products")
