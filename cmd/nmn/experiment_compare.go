package main

import (
	"context"
	"fmt"
	"path/filepath"
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
	set, _ := s.data.judged()
	pictures := newShownPictures(ctx, set)
	for len(runs) > 0 {
		level := func(r report.Run) bool { return r.Noise != runs[0].Noise || r.Flips != runs[0].Flips }
		end := slices.IndexFunc(runs, level)
		if end < 0 {
			end = len(runs)
		}
		c, err := compare(runs[:end], e.seeds[0], pictures)
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
	var beside sideBySide
	for i := range runs {
		if runs[i].Seed != seed {
			continue
		}
		s, err := readShown(runs[i].Name)
		if err != nil {
			return report.Comparison{}, err
		}
		beside.add(&runs[i], s)
	}
	return beside.comparison(fmt.Sprintf("Arms side by side: %s, seed %d", noise, seed), pictures), nil
}

// sideBySide gathers what arms say of the same bags.
type sideBySide struct {
	arms  []report.ComparedArm
	shown []*report.Scored
}

// add takes an arm, unless it has nothing to show or was scored on other bags than the first.
func (b *sideBySide) add(run *report.Run, s *report.Scored) {
	if s == nil || len(b.shown) > 0 && !sameDraw(s, b.shown[0]) {
		return
	}
	b.arms = append(b.arms, report.ComparedArm{Name: run.Title(), MIL: run.MIL, Curves: s.Curves})
	b.shown = append(b.shown, s)
}

func sameDraw(a, b *report.Scored) bool {
	return a.Against == b.Against && a.Split == b.Split && slices.EqualFunc(a.Drawn, b.Drawn, func(a, b report.ShownBag) bool { return a.ID == b.ID })
}

// comparison chooses the bags and makes their pictures.
func (b *sideBySide) comparison(title string, pictures *shownPictures) report.Comparison {
	c := report.Comparison{Title: title, Arms: b.arms, Bags: comparedBags(b.arms, b.shown)}
	for i := range c.Bags {
		c.Bags[i].JPEG = pictures.of(c.Bags[i].ID)
	}
	if len(b.shown) > 0 {
		first := b.shown[0]
		c.Against, c.Split, c.Chosen = first.Against, first.Split, chosenHow(len(c.Bags), len(first.Drawn))
	}
	return c
}

func chosenHow(bags, drawn int) string {
	if bags <= comparedByChance {
		return fmt.Sprintf("%d bags drawn by chance", bags)
	}
	return fmt.Sprintf("%d bags drawn by chance, and of %d more the %d on which the arms differ most", comparedByChance, drawn-comparedByChance, bags-comparedByChance)
}

// besideStage1 puts an arm of stage 2 beside the net that it started from; nil where nothing tells what that
// said of the same bags.
func (r *armRun) besideStage1(ctx context.Context, page *report.Run, set *loader.Set) (*report.Comparison, error) {
	if r.from == "" || page.Scored == nil {
		return nil, nil
	}
	first, err := readShown(filepath.Dir(r.from))
	if err != nil {
		return nil, err
	}
	var beside sideBySide
	beside.add(page, page.Scored)
	beside.add(&report.Run{Arm: report.Stage1, MIL: page.MIL, PaperData: page.PaperData}, first)
	if len(beside.arms) < 2 {
		return nil, nil
	}
	slices.Reverse(beside.arms)
	slices.Reverse(beside.shown)
	c := beside.comparison("Beside the net that it started from", newShownPictures(ctx, set))
	return &c, ctx.Err()
}

// comparedBags are the first of those drawn, and of the others those on which the arms differ most.
func comparedBags(arms []report.ComparedArm, shown []*report.Scored) []report.ComparedBag {
	if len(shown) == 0 {
		return nil
	}
	bags := make([]report.ComparedBag, len(shown[0].Drawn))
	order, apart := make([]int, len(bags)), make([]int, len(bags)) // words that not all arms predict
	for i, drawn := range shown[0].Drawn {
		order[i], bags[i].ID = i, drawn.ID
		predicted := map[string]int{}
		for arm, s := range shown {
			labels := s.Drawn[i].Labels
			bags[i].Says = append(bags[i].Says, report.ArmWords{Arm: arms[arm].Name, Labels: labels})
			for _, l := range labels {
				if l.Kind != report.MissingLabel {
					predicted[l.Word]++
				}
			}
		}
		for _, n := range predicted {
			if n < len(shown) {
				apart[i]++
			}
		}
	}
	slices.SortStableFunc(order[min(comparedByChance, len(order)):], func(a, b int) int { return apart[b] - apart[a] })
	var chosen []report.ComparedBag
	for _, i := range order[:min(comparedByChance+comparedApart, len(order))] {
		chosen = append(chosen, bags[i])
	}
	return chosen
}

// shownPictures makes the pictures of bags, each once.
type shownPictures struct {
	ctx   context.Context
	set   *loader.Set
	small loader.Thumbnailer
	known map[string][]byte
}

func newShownPictures(ctx context.Context, set *loader.Set) *shownPictures {
	return &shownPictures{ctx: ctx, set: set, known: map[string][]byte{}}
}

// of is the picture of a bag; nil for none.
func (p *shownPictures) of(id string) []byte {
	if jpeg, ok := p.known[id]; ok || p.set.Source == nil {
		return jpeg
	}
	if bag := slices.Index(p.set.IDs, id); bag >= 0 {
		small, _ := p.small.Middle(p.ctx, p.set.Source, bag) // a page is worth having without
		p.known[id] = small.JPEG
	}
	return p.known[id]
}
