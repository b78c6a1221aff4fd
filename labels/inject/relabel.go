package inject

import (
	"context"
	"fmt"

	"nmn/format/table"
	"nmn/internal/rng"
	"nmn/labels"
	"nmn/loader"
)

// Relabel draws noise for data in which each bag has one label. A share of the bags gets another class: a random one
// (Symmetric), the next one (Asymmetric, after the last class the first), or the nearest one (Instance). With Instance,
// bags that are nearer to another class are more often wrong: the probability rises from half of the share to one and a
// half of it. Bag i draws its numbers from the stream (seed, i), so that with a larger share the changes of a smaller
// one remain. Bags without exactly one label keep their labels.
func Relabel(ctx context.Context, s *loader.Set, kind Kind, share float64, seed uint64) (*Injection, error) {
	noise, err := newInjection(s, Flips, seed)
	if err != nil {
		return nil, err
	}
	switch {
	case !kind.Relabels():
		return nil, fmt.Errorf("%s: noise of kind %q does not replace the one label of a sample", s.Name, kind)
	case !(share >= 0 && share < 1):
		return nil, fmt.Errorf("%s: the share of wrong labels is %g, want at least 0 and less than 1", s.Name, share)
	case noise.Classes < 2:
		return nil, fmt.Errorf("%s: there is no other class among %d", s.Name, noise.Classes)
	}
	noise.Rates = labels.Rates{Q01: []float64{share}, Q10: []float64{share / float64(noise.Classes-1)}}
	var near *nearness
	if kind == Instance {
		if near, err = nearest(ctx, s); err != nil {
			return nil, fmt.Errorf("%s: noise of kind %q: %w", s.Name, kind, err)
		}
	}
	key := rng.Derive(seed, "noise/classes")
	for bag := range s.Len() {
		row := labelsOf(s, bag)
		given := int(table.OnlyClass(row))
		if given == table.UnknownClass {
			continue
		}
		stream := rng.New(key, bag)
		drawn, other := stream.Float64(), stream.Intn(noise.Classes-1)
		if other >= given {
			other++
		}
		p := share
		switch kind {
		case Asymmetric:
			other = (given + 1) % noise.Classes
		case Instance:
			p = near.chance(bag, share)
			if near.class[bag] >= 0 {
				other = near.class[bag]
			}
		}
		if drawn >= p {
			continue
		}
		noise.Changes = append(noise.Changes, BagChanges{Bag: bag, Flips: []int{min(given, other), max(given, other)}})
	}
	return noise, nil
}
