// Package neighbours finds rows that stand apart and rows that occur twice, by the distances of their feature
// vectors ("embeddings") to their k nearest neighbours. The neighbours are exact: every pair of rows is
// compared, by blocked matrix products on all processors. N rows take N² products of D numbers, and [Find]
// reports that cost before it begins.
//
// The rules come from cleanlab's Datalab (Kuan and Mueller, "Back to the Basics: Revisiting
// Out-of-Distribution Detection Baselines", 2022). A row is an outlier by its mean distance to its
// neighbours. It is a near-duplicate if its nearest neighbour is far nearer than neighbours usually are.
// Unlike Datalab, this package merges connected near-duplicates into groups.
package neighbours

import "errors"

// ErrValue is wrapped by errors about features or settings from which no neighbours can be found.
var ErrValue = errors.New("value not allowed")

// ErrCost is wrapped by the error of a search that would take longer than allowed.
var ErrCost = errors.New("too many products")
