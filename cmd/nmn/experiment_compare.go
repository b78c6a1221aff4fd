package main

import (
	"context"
	"fmt"
	"slices"

	"nmn/loader"
	"nmn/report"
)

// Bags on the page of an experiment, for each noise level.
const (
	comparedByChance = 4
	comparedApart    = 4 // on which the arms differ most
)

// comparisons puts the arms of each noise level side by side, at the first seed.
func (e *experiment) comparisons(ctx context.Context, s *session, runs []report.Run) ([]report.Comparison, error) {
	var all []report.Comparison
	pictures := shownPictures{ctx: ctx, known: map[string][]byte{}}
	pictures.set, _ = s.data.judged()
	for len(runs) > 0 {
		level := func(r report.Run) bool { return r.Noise != runs[0].Noise || r.Flips != runs[0].Flips }
		end := slices.IndexFunc(runs, level)
		if end < 0 {
			end = len(runs)
		}
		c, err := compare(runs[:end], e.seeds[0], &pictures)
		if err != nil {
			return nil, err
		}
		if len(c.Arms) > 1 {
			all = append(all, c)
		}
		runs = runs[end:]
	}
	return all, ctx.Err()
}

// compare compares the runs of a noise level. Runs that keep nothing to show, as of an older version, are
// left out.
func compare(runs []report.Run, seed uint64, pictures *shownPictures) (report.Comparison, error) {
	noise := fmt.Sprintf("noise %.4g %%", 100*runs[0].Noise)
	if runs[0].Flips != (report.Flips{}) {
		noise = "flipped labels, " + runs[0].Flips.String() + " (percent)"
	}
	c := report.Comparison{Title: fmt.Sprintf("%s, seed %d", noise, seed)}
	var shown []*report.Scored
	for i := range runs {
		if runs[i].Seed != seed {
			continue
		}
		s, err := readShown(runs[i].Name)
		if err != nil {
			return c, err
		}
		if s == nil || len(shown) > 0 && (s.Against != shown[0].Against || s.Split != shown[0].Split) {
			continue
		}
		shown = append(shown, s)
		c.Arms = append(c.Arms, report.ComparedArm{Name: runs[i].Title(), MIL: runs[i].MIL, Curves: s.Curves})
		c.Against, c.Split = s.Against, s.Split
	}
	c.Bags = comparedBags(c.Arms, shown)
	for i := range c.Bags {
		c.Bags[i].JPEG = pictures.of(c.Bags[i].ID)
	}
	if n := len(c.Bags); n > 0 {
		c.Chosen = fmt.Sprintf("%d bags drawn by chance", n)
		if n > comparedByChance {
			c.Chosen = fmt.Sprintf("%d bags drawn by chance, and of %d more the %d on which the arms differ most", comparedByChance, len(shown[0].Drawn)-comparedByChance, n-comparedByChance)
		}
	}
	return c, nil
}

// comparedBags are those that all arms have drawn: the first ones, and of the others those on which they
// differ most.
func comparedBags(arms []report.ComparedArm, shown []*report.Scored) []report.ComparedBag {
	var bags []report.ComparedBag
	var apart []int // words that not all arms predict
	if len(shown) == 0 {
		return nil
	}
	for _, first := range shown[0].Drawn {
		bag := report.ComparedBag{ShownBag: report.ShownBag{ID: first.ID}}
		predicted := map[string]int{}
		for i, s := range shown {
			at := slices.IndexFunc(s.Drawn, func(b report.ShownBag) bool { return b.ID == first.ID })
			if at < 0 {
				break
			}
			labels := s.Drawn[at].Labels
			bag.Says = append(bag.Says, report.ArmWords{Arm: arms[i].Name, Labels: labels})
			for _, l := range labels {
				if l.Kind != report.MissingLabel {
					predicted[l.Word]++
				}
			}
		}
		if len(bag.Says) < len(shown) {
			continue
		}
		differ := 0
		for _, n := range predicted {
			if n < len(shown) {
				differ++
			}
		}
		bags, apart = append(bags, bag), append(apart, differ)
	}
	order := make([]int, len(bags))
	for i := range order {
		order[i] = i
	}
	rest := order[min(comparedByChance, len(order)):]
	slices.SortStableFunc(rest, func(a, b int) int { return apart[b] - apart[a] })
	chosen := make([]report.ComparedBag, 0, comparedByChance+comparedApart)
	for _, i := range order[:min(comparedByChance+comparedApart, len(order))] {
		chosen = append(chosen, bags[i])
	}
	return chosen
}

// shownPictures makes the pictures of bags, each once.
type shownPictures struct {
	ctx   context.Context
	set   *loader.Set
	small thumbnailer
	known map[string][]byte
}

// of is the picture of a bag; nil for none.
func (p *shownPictures) of(id string) []byte {
	if jpeg, ok := p.known[id]; ok || p.set == nil || p.set.Source == nil {
		return jpeg
	}
	if bag := slices.Index(p.set.IDs, id); bag >= 0 {
		p.known[id] = p.small.middle(p.ctx, p.set.Source, bag)
	}
	return p.known[id]
}
