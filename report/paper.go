package report

import (
	"math"
	"slices"

	"nmn/eval"
	"nmn/text"
)

const (
	publishedSource = "paper"
	levelColumn     = "level"
)

func humanOf(r *eval.Result) *eval.Human { return r.Human }

// tagOrder are the parts of speech in the order of their tags.
var tagOrder = []text.POS{text.NN, text.VB, text.JJ, text.DT, text.PRP, text.IN, text.Others}

// groupCells are the cells of some groups and of all words. Without parts of speech the groups are empty.
func groupCells[T any](g eval.ByGroup[T], order []text.POS, cell func(T) Cell) []Cell {
	cells := make([]Cell, len(order))
	for i, p := range order {
		if g.Group != nil {
			cells[i] = cell(g.Group[p])
		}
	}
	return append(cells, cell(g.All))
}

func groupNames() []string {
	var names []string
	for _, p := range tagOrder {
		names = append(names, p.String())
	}
	return append(names, "All")
}

// publishedFor finds the figures of Tables 1 and 2 for an arm, or of Table 3 for an arm with a level.
func publishedFor(k cellKey, level string) (Published, bool) {
	for _, p := range PublishedRows() {
		if k.kind == "" && p.Level == level && !p.Cited && p.Arm == k.arm && p.MIL == k.mil && near(p.Noise, k.noise) {
			return p, true
		}
	}
	return Published{}, false
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// commonSizes returns the numbers of words when all runs have the same vocabulary.
func commonSizes(cells []cellOf) (eval.ByGroup[int], bool) {
	var sizes eval.ByGroup[int]
	for i, c := range cells {
		for _, r := range c.runs {
			if i == 0 {
				sizes = r.Result.GroupSize
			}
			if s := r.Result.GroupSize; s.All != sizes.All || !slices.Equal(s.Group, sizes.Group) {
				return sizes, false
			}
		}
	}
	return sizes, len(cells) > 0
}
