package runpage

import (
	"context"
	"fmt"
	"slices"

	"nmn/loader"
	"nmn/report"
)

// Bags on the page of an experiment, for each noise level.
const (
	ComparedByChance = 4
	ComparedApart    = 4 // on which the arms differ most
)

// SideBySide gathers the predictions of several arms for the same bags.
type SideBySide struct {
	arms  []report.ComparedArm
	shown []*report.Scored
}

// Add takes an arm with what it shows, unless it has nothing to show or was scored on other bags than the first.
func (b *SideBySide) Add(run *report.Run, s *report.Scored) {
	if s == nil || len(b.shown) > 0 && !sameDraw(s, b.shown[0]) {
		return
	}
	b.arms = append(b.arms, report.ComparedArm{Name: run.Title(), MIL: run.MIL, Curves: s.Curves})
	b.shown = append(b.shown, s)
}

func sameDraw(a, b *report.Scored) bool {
	return a.Against == b.Against && a.Split == b.Split &&
		slices.EqualFunc(a.Drawn, b.Drawn, func(a, b report.ShownBag) bool { return a.ID == b.ID })
}

// Comparison chooses the bags and makes their pictures.
func (b *SideBySide) Comparison(title string, pictures *Pictures) report.Comparison {
	c := report.Comparison{Title: title, Arms: b.arms, Bags: comparedBags(b.arms, b.shown)}
	for i := range c.Bags {
		c.Bags[i].JPEG = pictures.of(c.Bags[i].ID)
	}
	if len(b.shown) > 0 {
		first := b.shown[0]
		c.Against, c.Split, c.Chosen = first.Against, first.Split, chosenHow(len(c.Bags), len(first.Drawn))
		c.Exclusive = first.Exclusive
	}
	return c
}

func chosenHow(bags, drawn int) string {
	if bags <= ComparedByChance {
		return fmt.Sprintf("%d samples drawn by chance", bags)
	}
	return fmt.Sprintf("%d samples drawn by chance, and of %d more the %d on which the arms differ most", ComparedByChance,
		drawn-ComparedByChance, bags-ComparedByChance)
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
	slices.SortStableFunc(order[min(ComparedByChance, len(order)):], func(a, b int) int { return apart[b] - apart[a] })
	var chosen []report.ComparedBag
	for _, i := range order[:min(ComparedByChance+ComparedApart, len(order))] {
		chosen = append(chosen, bags[i])
	}
	return chosen
}

// Pictures makes the pictures of bags, each once.
type Pictures struct {
	ctx   context.Context
	set   *loader.Set
	small loader.Thumbnailer
	known map[string][]byte
}

// NewPictures makes pictures of the bags of a set, until ctx ends.
func NewPictures(ctx context.Context, set *loader.Set) *Pictures {
	return &Pictures{ctx: ctx, set: set, known: map[string][]byte{}}
}

func (p *Pictures) of(id string) []byte {
	if jpeg, ok := p.known[id]; ok || p.set.Preview() == nil {
		return jpeg
	}
	if bag := slices.Index(p.set.IDs, id); bag >= 0 {
		small, _ := p.small.Middle(p.ctx, p.set.Preview(), bag) // a page is worth having without
		p.known[id] = small.JPEG
	}
	return p.known[id]
}
