package main

import (
	"context"
	"time"

	"nmn/labels/audit/neighbours"
	"nmn/labels/audit/rows"
)

// auditRows are the flags about whole pictures: the score of their labels, and neighbours by their features.
type auditRows struct {
	file     string
	features string
	options  neighbours.Options
}

func (a *auditRows) flags(r group) {
	r.output(&a.file, "rows", "write all pictures, worst labels first, to this `file`", rows.Formats...)
	r.file(&a.features, "features", "find outliers and near-duplicates by the features in this `file`",
		"npy", "npz", "safetensors", "csv", "tsv", "parquet", "arff", "gz")
	r.int(&a.options.K, "neighbours", "judge outliers by this many nearest `pictures`")
	enum(r, &a.options.Metric, "distance", "measure this `distance` of features", neighbours.Cosine, neighbours.Euclidean)
	r.float(&a.options.Duplicate, "near", "call pictures near-duplicates below this `share` of the median distance")
	r.float(&a.options.Limit, "neighbours-limit", "refuse searches of more than this many 10^12 `operations`")
	r.rare("neighbours", "distance", "near", "neighbours-limit")
	r.needs("features", "neighbours", "distance", "near", "neighbours-limit")
}

// neighbours finds the neighbours of pictures if --features is given; otherwise it returns nil.
func (a *auditRows) neighbours(ctx context.Context, p *program, ids []string, bags int) (*neighbours.Result, error) {
	if a.features == "" {
		return nil, nil
	}
	o := a.options
	o.Progress = p.counted("neighbours", "pictures")
	start := time.Now()
	r, err := neighbours.File(ctx, a.features, ids, bags, o)
	p.status.clear()
	if err == nil && time.Since(start) > 10*time.Second {
		p.note("finding the neighbours of %d pictures took %.0f s", bags, time.Since(start).Seconds())
	}
	return r, err
}
