package claims

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"nmn/eval"
	"nmn/recipe"
)

// cell identifies a figure. It has a value for each seed.
type cell struct {
	data    string
	side    side
	missing float64
	words   string
}

type figures struct {
	seeds map[cell]map[uint64]float64
	units map[cell]map[string]map[uint64]float64 // of single words, by word and seed; the cell has words All
}

func gather(results []Result) *figures {
	f := &figures{seeds: map[cell]map[uint64]float64{}, units: map[cell]map[string]map[uint64]float64{}}
	for _, r := range results {
		at := cell{data: r.Data, side: side{r.Arm, r.Metric}, missing: r.key().Missing, words: r.Words}
		if r.OfWord() {
			at.words = All
			put(put(f.units, at), r.Words)[r.Seed] = r.Value
		} else {
			put(f.seeds, at)[r.Seed] = r.Value
		}
	}
	return f
}

// put returns the inner map of a key, and makes it if it is missing.
func put[K, L comparable, V any](m map[K]map[L]V, key K) map[L]V {
	if m[key] == nil {
		m[key] = map[L]V{}
	}
	return m[key]
}

// levels returns the levels of noise at which a claim is tested. A claim that needs every level is tested at
// all of them. Any other claim is tested at the levels with both sides of a comparison, or, if no level has
// both, at the levels with one side. Without results there are no levels.
func (f *figures) levels(c *claim, data string) []float64 {
	var whole, partly []float64
	for _, missing := range c.levels {
		both, one := false, false
		for i := range c.pairs {
			p := &c.pairs[i]
			_, left := f.seeds[p.cell(p.left, data, missing)]
			_, right := f.seeds[p.cell(p.right, data, missing)]
			right = right || p.bounded()
			both, one = both || left && right, one || left || right && !p.bounded()
		}
		if both {
			whole = append(whole, missing)
		}
		if one {
			partly = append(partly, missing)
		}
	}
	switch {
	case c.every && len(partly) > 0:
		return c.levels
	case len(whole) > 0:
		return whole
	}
	return partly
}

func (p *pair) bounded() bool { return p.right.arm == "" }

func (p *pair) cell(s side, data string, missing float64) cell {
	return cell{data: data, side: s, missing: missing, words: p.words}
}

// compare takes the differences of equal seeds. Reason says what is missing, and is empty where all is there.
func (f *figures) compare(p *pair, data string, missing float64) Comparison {
	of := func(s side) Side {
		return Side{Arm: s.arm, Metric: s.metric, Published: published(slices.Contains(videos, data), s, missing, p.words),
			Mean: eval.Undefined()}
	}
	d := Comparison{Left: of(p.left), Right: of(p.right),
		Missing: missing, Words: p.words, Bound: p.bound,
		Mean: eval.Undefined(), Spread: eval.Undefined(), P: eval.Undefined(), Units: Units{P: eval.Undefined()},
	}
	d.Published = d.Left.Published - d.Right.Published
	left, right := p.cell(p.left, data, missing), p.cell(p.right, data, missing)
	other := f.seeds[right]
	if p.bounded() {
		other = map[uint64]float64{}
		for seed := range f.seeds[left] {
			other[seed] = p.bound
		}
	}
	d.Reason = d.pair(f.seeds[left], other)
	if !p.bounded() {
		d.Units = f.compareUnits(left, right)
	}
	return d
}

// pair takes the differences of the seeds that both sides have, and says what is missing.
func (d *Comparison) pair(left, right map[uint64]float64) string {
	var a, b []float64
	var missing []string
	for _, seed := range union(left, right) {
		x, inLeft := left[seed]
		y, inRight := right[seed]
		switch {
		case !inLeft:
			missing = append(missing, fmt.Sprintf("seed %d of %s", seed, title(d.Left.Arm)))
		case !inRight:
			missing = append(missing, fmt.Sprintf("seed %d of %s", seed, title(d.Right.Arm)))
		default:
			d.Seeds, a, b = append(d.Seeds, seed), append(a, x), append(b, y)
			d.Differences = append(d.Differences, x-y)
		}
	}
	if n := len(d.Seeds); n > 0 {
		d.Left.Mean, d.Right.Mean = eval.Number(stat.Mean(a, nil)), eval.Number(stat.Mean(b, nil))
		d.Mean = eval.Number(stat.Mean(d.Differences, nil))
		if n > 1 {
			d.Spread, d.P = eval.Number(stat.StdDev(d.Differences, nil)), tTest(d.Differences)
		}
	}
	switch n := len(d.Seeds); {
	case len(left) == 0 && len(right) == 0:
		return "there are no results"
	case len(left) == 0:
		return "there are no results of " + title(d.Left.Arm)
	case len(right) == 0:
		return "there are no results of " + title(d.Right.Arm)
	case len(missing) > 0: // seeds that are left out may be those that failed
		return strings.Join(missing, ", ") + " is missing"
	case n < FewestSeeds:
		return fmt.Sprintf("too few seeds: %d, and %d are needed", n, FewestSeeds)
	case d.Right.Arm != "" && same(a) && same(b):
		return "the figures of all seeds are equal, as if they came from one run"
	}
	return ""
}

func same(values []float64) bool { return slices.Min(values) == slices.Max(values) }

func union(a, b map[uint64]float64) []uint64 {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// compareUnits is the test over single words: of each the mean difference over the seeds of both sides.
func (f *figures) compareUnits(left, right cell) Units {
	u := Units{P: eval.Undefined()}
	if left.words != All {
		return u
	}
	var differences []float64
	for name, a := range f.units[left] {
		b := f.units[right][name]
		var sum, n float64
		for _, seed := range union(a, b) {
			x, inLeft := a[seed]
			if y, inRight := b[seed]; inLeft && inRight {
				sum, n = sum+x-y, n+1
			}
		}
		if n > 0 {
			differences = append(differences, sum/n)
		}
	}
	slices.Sort(differences)
	u.Count = len(differences)
	for _, d := range differences {
		if d > 0 != lessIsBetter(left.side.metric) && d != 0 {
			u.Ahead++
		}
	}
	u.P = signedRank(differences)
	return u
}

func title(arm string) string {
	name, mil := strings.CutSuffix(arm, MIL)
	return recipe.Name(name).Title(mil)
}

func (d *Comparison) name() string {
	left, right := title(d.Left.Arm), title(d.Right.Arm)
	measure := ""
	switch {
	case d.Right.Arm == "":
		left += ", " + d.Left.Metric
		right = "at most " + strconv.FormatFloat(d.Bound, 'g', -1, 64)
	case d.Left.Metric != d.Right.Metric:
		left, right = left+", p(y=1|I)", "p(z=1|I)"
	case d.Left.Metric != AP:
		measure = ", " + d.Left.Metric
	}
	words := ""
	if d.Words != All {
		words = ", " + d.Words
	}
	if d.Right.Arm == "" {
		return left + " " + right + words
	}
	return fmt.Sprintf("%s against %s%s, %.4g %%%s", left, right, measure, math.Round(100*d.Missing), words)
}
