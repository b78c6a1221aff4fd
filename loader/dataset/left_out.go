package dataset

import (
	"context"
	"fmt"
	"strings"

	"nmn/loader"
)

// leaveOut takes training bags that cannot be used out of the data, before anything is computed from them: they have no
// score, and no part in noise, rates, folds or audits.
func (d *Splits) leaveOut(ctx context.Context) error {
	if d.options.Unusable == nil {
		return nil
	}
	bad, err := d.options.Unusable(ctx, d.Train)
	if err != nil || len(bad) == 0 {
		return err
	}
	out := make(map[int]bool, len(bad))
	for _, b := range bad {
		out[b.Bag] = true
	}
	kept := make([]int, 0, d.Train.Len())
	for bag := range d.Train.Len() {
		if !out[bag] {
			kept = append(kept, bag)
		}
	}
	if len(kept) == 0 {
		return loader.NoneUsable(d.Train, bad[0].Err)
	}
	d.originalIDs, d.LeftOut, d.leftOf = d.OriginalIDs(), bad, fmt.Sprintf("%d training %s", d.Train.Len(), d.Train.Noun())
	d.Train, err = loader.Subset(d.Train, d.Train.Name, kept)
	return err
}

// DescribeLeftOut names the training bags that were left out, the first of many; empty for none.
func (d *Splits) DescribeLeftOut() string {
	const named = 10
	if len(d.LeftOut) == 0 {
		return ""
	}
	var names []string
	for _, b := range d.LeftOut[:min(named, len(d.LeftOut))] {
		names = append(names, fmt.Sprintf("%s (%v)", b.ID, b.Err))
	}
	more := ""
	if n := len(d.LeftOut) - named; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return fmt.Sprintf("%d of %s cannot be used and are left out: %s%s", len(d.LeftOut), d.leftOf,
		strings.Join(names, "; "),
		more)
}
