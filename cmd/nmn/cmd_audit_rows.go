package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"nmn/labels/audit/neighbours"
	"nmn/labels/audit/rows"
)

// auditRows are the flags about whole bags of an audit: a score for each, and what their features tell.
type auditRows struct {
	file     string
	features string
	options  neighbours.Options
}

func (a *auditRows) flags(r group) {
	r.file(&a.file, "rows", "`file` to write every bag to, the one whose labels fit least first: .csv, .jsonl or "+
		".parquet, or .npy in the order of the scores", "csv", "jsonl", "parquet", "npy")
	r.file(&a.features, "features", "`file` with features of the bags, to find outliers and near-duplicates by",
		"npy", "npz", "safetensors", "csv", "tsv", "parquet", "arff", "gz")
	r.int(&a.options.K, "neighbours", "nearest `bags` that tell of an outlier")
	enum(r, &a.options.Metric, "distance", "`distance` of features, by default euclidean up to 3 of them and cosine "+
		"for more", neighbours.Cosine, neighbours.Euclidean)
	r.float(&a.options.Duplicate, "near", "`share` of the median distance to the nearest bag below which two are "+
		"near-duplicates")
	r.float(&a.options.Limit, "neighbours-limit", "most floating-point `operations` of the search, in units of 10^12: "+
		"twice the features times the square of the bags")
}

func (a *auditRows) check(given func(string) bool) error {
	for _, name := range []string{"neighbours", "distance", "near", "neighbours-limit"} {
		if a.features == "" && given(name) {
			return usagef("audit: --%s belongs to --features", name)
		}
	}
	return cmp.Or(checkEnding("audit", "rows", a.file, rows.Formats), a.options.Validate())
}

// neighbours finds those of the bags where features are given; nil where they are not. Its cost is told before it
// begins.
func (a *auditRows) neighbours(ctx context.Context, p *program, ids []string, bags int) (*neighbours.Result, error) {
	if a.features == "" {
		return nil, nil
	}
	o := a.options
	if p.watched() {
		shown := -1
		o.Progress = func(done, total int) {
			if percent := 100 * done / total; percent != shown {
				shown = percent
				p.draw(stage{Title: "neighbours", Done: done, Total: total, Unit: "bags"},
					fmt.Sprintf("neighbours: %d %%", percent))
			}
		}
		defer p.status.clear()
	}
	start := time.Now()
	r, err := neighbours.File(ctx, a.features, ids, bags, o)
	if err == nil && time.Since(start) > 10*time.Second {
		p.note("the neighbours of %d bags took %.0f s", bags, time.Since(start).Seconds())
	}
	return r, err
}

// write writes the rows where they are asked for.
func (a *auditRows) write(t *rows.Table) error {
	if a.file == "" {
		return nil
	}
	return t.WriteFile(a.file)
}
