package inject

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"nmn/internal/setting"
	"nmn/labels"
	"nmn/loader"
)

// donors are the bags that have a caption to give: all but some.
type donors struct {
	bags    int   // bags of the set
	without []int // those that have none, ascending
}

func (d *donors) len() int { return d.bags - len(d.without) }

// at is the donor of a rank, counted from 0.
func (d *donors) at(rank int) int {
	return rank + sort.Search(len(d.without), func(i int) bool { return d.without[i]-i > rank })
}

// rank returns the rank of a donor.
func (d *donors) rank(bag int) int { return bag - sort.SearchInts(d.without, bag) }

// check returns why captions cannot be replaced.
func (d *donors) check(s *loader.Set) error {
	if d.len() < 2 {
		return fmt.Errorf("%s: captions of other samples are needed, but only %d samples have any", s.Name, d.len())
	}
	return nil
}

// WithReplacedCaptions is ReplaceCaptions and Injection.Apply for a set with Rows: it draws the same noise,
// but only when a bag is read. It reads the labels once, to find the bags with captions to give.
// Similar and Content are refused, because they compare all bags.
func WithReplacedCaptions(ctx context.Context, s *loader.Set, kind Kind, share float64, seed uint64) (*loader.Set,
	error) {
	if kind.all() {
		return nil, setting.Errorf("data.noise_kind", "%s: `data.noise_kind` %s compares the captions of all samples, "+
			"which do not fit into memory: raise `run.label_memory` or choose another kind", s.Name, kind)
	}
	draw, err := newReplacementDraw(s, kind, share, seed)
	if err != nil {
		return nil, err
	}
	from := donors{bags: s.Len()}
	err = s.EachRow(ctx, func(bag int, row *loader.Row) error {
		if row.Captions == nil && len(row.Labels) > 0 {
			return fmt.Errorf("%s: captions cannot be replaced: the labels of sample %d (%s) do not come from captions; "+
				"flip labels instead", s.Name, bag, row.ID)
		}
		if len(row.Captions) == 0 {
			from.without = append(from.without, bag)
		}
		return nil
	})
	if err == nil {
		err = from.check(s)
	}
	if err != nil {
		return nil, err
	}
	draw.donors = &from
	return s.WithRows(&replacedRows{Rows: s.Rows, draw: *draw}), nil
}

// replacedRows draws the noise of captions as rows are read.
type replacedRows struct {
	loader.Rows
	draw replacementDraw // without captions
}

func (r *replacedRows) Read(ctx context.Context, bag int, row *loader.Row) error {
	if err := r.Rows.Read(ctx, bag, row); err != nil || len(row.Captions) == 0 {
		return err
	}
	var donor loader.Row
	given := map[int][][]int32{} // captions of donors
	draw := r.draw
	draw.captions = func(bag int) (int, error) {
		if _, read := given[bag]; !read {
			if err := r.Rows.Read(ctx, bag, &donor); err != nil {
				return 0, err
			}
			given[bag] = donor.Captions
		}
		return len(given[bag]), nil
	}
	change, err := draw.of(bag, len(row.Captions))
	if err != nil {
		return err
	}
	captions := slices.Clone(row.Captions)
	for _, c := range change.Captions {
		captions[c.Slot] = given[c.Donor][c.DonorSlot]
	}
	row.Labels = row.Labels[:0]
	for _, words := range captions {
		row.Labels = append(row.Labels, words...)
	}
	slices.Sort(row.Labels)
	row.Labels = slices.Compact(row.Labels)
	return nil
}

// WithFlippedLabels is FlipLabels and Noise.Apply for a set with Rows: the flips of a bag are drawn when it
// is read, and are the same.
func WithFlippedLabels(s *loader.Set, rates labels.Rates, seed uint64) (*loader.Set, error) {
	if err := checkFlipRates(rates, s.Vocabulary.Len()); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return s.WithRows(&flippedRows{Rows: s.Rows, draw: newFlipDraw(s.Vocabulary.Len(), rates, seed)}), nil
}

// flippedRows flips labels as rows are read.
type flippedRows struct {
	loader.Rows
	draw flipDraw
}

func (r *flippedRows) Read(ctx context.Context, bag int, row *loader.Row) error {
	if err := r.Rows.Read(ctx, bag, row); err != nil {
		return err
	}
	labels := make([]uint8, r.draw.classes)
	for _, class := range row.Labels {
		labels[class] = 1
	}
	for _, class := range r.draw.of(bag, labels) {
		labels[class] ^= 1
	}
	row.Labels = row.Labels[:0]
	for class, z := range labels {
		if z == 1 {
			row.Labels = append(row.Labels, int32(class))
		}
	}
	return nil
}
