package neighbours

import (
	"fmt"

	"nmn/internal/setting"
)

// Metric is how far apart two rows are.
type Metric string

// The metrics.
const (
	Cosine    Metric = "cosine"    // 1 - x·y/(|x||y|); 1 to a row of zeros
	Euclidean Metric = "euclidean" // |x - y|
)

// Options are the settings of Find; DefaultOptions returns the defaults of Datalab.
type Options struct {
	K      int    // neighbours; fewer if there are fewer rows
	Metric Metric // empty: euclidean up to 3 features, cosine for more
	// Duplicate is the share of the median distance to the nearest neighbour below which two rows are near-duplicates.
	Duplicate float64
	// Limit is the most floating-point operations, in units of 10^12.
	Limit float64
	// Progress, where set, is called with how much of the work is done. Calls do not overlap.
	Progress func(done, total int)
}

// DefaultOptions are 10 neighbours, .13 of the median, and 200·10^12 operations.
func DefaultOptions() Options { return Options{K: 10, Duplicate: .13, Limit: 200} }

// outlierRanges is how many interquartile ranges above the third quartile the mean distance of an outlier lies.
const outlierRanges = 1.7

// Validate names the setting that is out of range.
func (o Options) Validate() error {
	switch {
	case o.K < 1 || o.K > maxK:
		return setting.Errorf("audit.neighbours", "`audit.neighbours` is %d, want 1 to %d", o.K, maxK)
	case o.Metric != "" && o.Metric != Cosine && o.Metric != Euclidean:
		return setting.Errorf("audit.distance", "`audit.distance` is %q, want %s or %s", o.Metric, Cosine, Euclidean)
	case !(o.Duplicate >= 0 && o.Duplicate < 1):
		return setting.Errorf("audit.near", "`audit.near` is %g, want at least 0 and below 1", o.Duplicate)
	case !(o.Limit > 0):
		return setting.Errorf("audit.neighbours_limit", "`audit.neighbours_limit` is %g, want above 0", o.Limit)
	}
	return nil
}

// maxK bounds the memory for neighbours.
const maxK = 1000

// direct is the most features that distances are computed from one by one: products of few features lose digits.
const direct = 3

func (o Options) metric(width int) Metric {
	if o.Metric == "" && width <= direct {
		return Euclidean
	} else if o.Metric == "" {
		return Cosine
	}
	return o.Metric
}

// operations are the floating-point operations of a search, in units of 10^12.
func operations(rows, width int) float64 {
	return 2e-12 * float64(rows) * float64(rows) * float64(width)
}

func (o Options) checkCost(rows, width int) error {
	if cost := operations(rows, width); cost > o.Limit {
		return fmt.Errorf("neighbours of %d rows × %d features take %.0f·10^12 operations, and `audit.neighbours_limit` is "+
			"%.0f: raise it (a core with AVX-512 does about .1 a second), bring the features to fewer columns, or "+
			"audit the rows in parts: %w", rows, width, cost, o.Limit, ErrCost)
	}
	return nil
}
