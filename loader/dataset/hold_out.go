package dataset

import (
	"context"
	"fmt"
	"math"
	"slices"

	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/annotation"
)

// HoldOutConfig says which bags are held out for validation and test where no file has them.
type HoldOutConfig struct {
	ValidationShare float64 `yaml:"validation_share" help:"hold out this <share> of the training data for validation, if no file has validation data" range:"[0,1)"`
	TestShare       float64 `yaml:"test_share" help:"hold out this <share> of the training data as test data, if there are none" range:"[0,1)"`
	ValidationIDs   string  `yaml:"validation_ids" of:"msrvtt captions clips features manifest" help:"<file> with the identifiers of the validation pictures"`
	TestIDs         string  `yaml:"test_ids" of:"msrvtt captions clips features manifest" help:"<file> with the identifiers of the test pictures"`
}

func (d *Config) checkShares() error {
	if d.ValidationShare+d.TestShare >= 1 {
		return fmt.Errorf("data.validation_share %g and data.test_share %g leave nothing to train on", d.ValidationShare,
			d.TestShare)
	}
	return nil
}

// lists reports whether identifiers name what is held out.
func (h *HoldOutConfig) lists() bool { return h.ValidationIDs != "" || h.TestIDs != "" }

// listed takes validation and test out of a set by lists of identifiers, and returns the bags that are on no list.
func (d *Splits) listed(ctx context.Context, c *Config, whole *loader.Set) (rest []int, err error) {
	var lists [][]string
	var to []**loader.Set
	for _, list := range []struct {
		file string
		to   **loader.Set
	}{{c.ValidationIDs, &d.Validation}, {c.TestIDs, &d.Test}} {
		if list.file == "" {
			continue
		}
		ids, err := loader.ReadIDs(ctx, list.file)
		if err != nil {
			return nil, err
		}
		if c.Set == Captions {
			ids = captionIDs(ids, whole.IDs)
		}
		lists, to = append(lists, ids), append(to, list.to)
	}
	sets, err := loader.SplitByIDs(whole, lists...)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for i, set := range sets {
		*to[i] = set
		for _, id := range set.IDs {
			taken[id] = true
		}
	}
	for i, id := range whole.IDs {
		if !taken[id] {
			rest = append(rest, i)
		}
	}
	return rest, nil
}

// captionIDs are the entries of a list as identifiers of bags with captions. Lists of COCO may name pictures.
func captionIDs(list, bags []string) []string {
	known := make(map[string]bool, len(bags))
	for _, id := range bags {
		known[id] = true
	}
	numbers := annotation.COCOIDs(list)
	for i, id := range list {
		if !known[id] && known[numbers[i]] {
			list[i] = numbers[i]
		}
	}
	return list
}

// holdOut takes validation and test bags out of the training set: the bags of the lists, or else shares of a
// seeded order that depends only on the identifiers.
func (d *Splits) holdOut(ctx context.Context, c *Config, whole *loader.Set) error {
	d.originalIDs = whole.IDs
	rows := map[string][]int{}
	if c.lists() {
		rest, err := d.listed(ctx, c, whole)
		if err != nil {
			return err
		}
		rows[loader.TrainSplit] = rest
	} else {
		order := loader.ShuffledByID(whole.IDs, rng.Derive(c.Seed, "held-out pictures"))
		n := func(share float64) int { return int(math.Round(share * float64(len(order)))) }
		validation, test := n(c.ValidationShare), n(c.TestShare)
		rows[loader.ValidationSplit], rows[loader.TestSplit] = order[:validation], order[validation:validation+test]
		rows[loader.TrainSplit] = order[validation+test:]
	}
	return d.take(whole, rows)
}

// take makes the splits of some rows of a set. Splits without rows stay as they are. There must be a training split.
func (d *Splits) take(whole *loader.Set, rows map[string][]int) (err error) {
	for _, part := range d.parts() {
		slices.Sort(rows[part.split])
		if len(rows[part.split]) == 0 {
			continue
		}
		if *part.to, err = loader.Subset(whole, whole.Name+"-"+part.name, rows[part.split]); err != nil {
			return err
		}
	}
	if d.Train == nil {
		return fmt.Errorf("%s: of %d %v none are left to train on: hold out fewer of them", whole.Name, whole.Len(),
			whole.Noun())
	}
	return nil
}
