package annotators

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Thresholds above which two annotators count as copies of each other. Agreement is beyond chance, Cohen's kappa: 1 for
// equal answers, 0 for chance. The excess is over the agreement that their agreement with others explains, and is
// also given in standard deviations.
const (
	leastChance    = 10. // labels on which two annotators would differ by chance
	leastAlike     = .85
	leastExcess    = .25
	leastDeviation = 5
	mostOfBag      = 16 // annotators of a bag that are compared
)

// copies marks the rows that repeat another annotator's row for the same bag. Two annotators copy if they answer nearly
// always alike although neither agrees as much with others. A copy is no second witness. If annotators err
// independently, two of them agree, beyond chance, as often as the product of their agreements with a typical
// annotator. Annotators who make the same mistakes independently agree less than copies do. n is the number of
// annotators who repeat another one. Annotators marked in apart are no copies; apart may be nil.
func (in *Input) copies(apart []bool) (repeats []bool, n int) {
	repeats = make([]bool, len(in.Rows))
	rows := in.byAnnotator().all
	bags := gathered(in.Bags, len(rows), func(i int) int { return int(in.Rows[rows[i]].Bag) },
		func(i int) int32 { return rows[i] }) // per bag: rows ascending by annotator
	first := in.first(in.agreements(bags), apart)
	group := make([]int, in.Annotators) // annotators who copy from each other, by the first of them
	for _, f := range first {
		group[f]++
	}
	copier := make([]bool, in.Annotators)
	for i := range in.Bags {
		seen := map[int32][]*Row{} // different rows of a group
		for _, row := range bags.of(i) {
			r := &in.Rows[row]
			f := first[r.Annotator]
			if group[f] < 2 {
				continue
			}
			if repeats[row] = slices.ContainsFunc(seen[f], r.answers); !repeats[row] {
				seen[f] = append(seen[f], r)
			} else if !copier[r.Annotator] {
				copier[r.Annotator] = true
				n++
			}
		}
	}
	return repeats, n
}

// answers reports whether two rows give the same answers.
func (r *Row) answers(o *Row) bool {
	return slices.Equal(r.Given, o.Given) && slices.Equal(r.Unknown, o.Unknown) && slices.Equal(r.Asked, o.Asked) &&
		(r.Asked == nil) == (o.Asked == nil)
}

// pairOf is two annotators, the lower number first. agreement sums the labels on which they differ, and on which they
// would differ by chance, over the labels that both answered.
type (
	pairOf    struct{ a, b int32 }
	agreement struct{ differ, chance float64 }
)

// kappa is the agreement beyond chance.
func (a agreement) kappa() float64 { return 1 - a.differ/a.chance }

func (in *Input) agreements(bags lists[int32]) map[pairOf]agreement {
	chance, whole := in.chance()
	pairs := map[pairOf]agreement{}
	for i := range in.Bags {
		rows := bags.of(i)
		rows = rows[:min(len(rows), mostOfBag)]
		for n, row := range rows {
			for _, other := range rows[:n] {
				r, o := &in.Rows[row], &in.Rows[other]
				at := pairOf{o.Annotator, r.Annotator}
				c := pairs[at]
				c.compare(r, o, chance, whole)
				pairs[at] = c
			}
		}
	}
	return pairs
}

// compare adds the labels that two rows both answer. chance and whole come from Input.chance.
func (a *agreement) compare(r, o *Row, chance []float64, whole float64) {
	if r.Asked != nil || o.Asked != nil {
		asked := r.Asked
		if asked == nil {
			asked = o.Asked
		}
		for _, k := range asked {
			x, ok := r.answer(k)
			if y, both := o.answer(k); ok && both {
				if a.chance += chance[k]; x != y {
					a.differ++
				}
			}
		}
		return
	}
	a.chance += whole
	for _, rows := range [...][2]*Row{{r, o}, {o, r}} {
		for _, k := range rows[0].Given {
			if given, ok := rows[1].answer(k); ok && !given {
				a.differ++
			}
		}
	}
	for _, k := range r.Unknown {
		a.chance -= chance[k]
	}
	for _, k := range o.Unknown {
		if _, ok := r.answer(k); ok {
			a.chance -= chance[k]
		}
	}
}

// answer returns the label of a class, if the row has one.
func (r *Row) answer(class int32) (given, ok bool) {
	_, given = slices.BinarySearch(r.Given, class)
	_, unknown := slices.BinarySearch(r.Unknown, class)
	_, asked := slices.BinarySearch(r.Asked, class)
	return given, !unknown && (asked || r.Asked == nil)
}

// chance returns the probability that two answers differ by chance, for each class, and the sum.
func (in *Input) chance() (classes []float64, sum float64) {
	classes = make([]float64, in.Classes)
	given, asked, whole := make([]float64, in.Classes), make([]float64, in.Classes), 0.
	for i := range in.Rows {
		r := &in.Rows[i]
		for _, k := range r.Given {
			given[k]++
		}
		for _, k := range r.Unknown {
			asked[k]--
		}
		if r.Asked == nil {
			whole++
		}
		for _, k := range r.Asked {
			asked[k]++
		}
	}
	for k := range classes {
		if n := asked[k] + whole; n > 0 {
			p := given[k] / n
			classes[k] = 2 * p * (1 - p)
			sum += classes[k]
		}
	}
	return classes, sum
}

// first returns, for each annotator, the first of the annotators who copy from each other.
func (in *Input) first(pairs map[pairOf]agreement, apart []bool) []int32 {
	agree := make([][]float64, in.Annotators)
	for at, c := range pairs {
		if c.chance >= leastChance {
			agree[at.a], agree[at.b] = append(agree[at.a], c.kappa()), append(agree[at.b], c.kappa())
		}
	}
	typical := make([]float64, in.Annotators)
	var all []float64
	for j, kappas := range agree {
		if len(kappas) > 0 {
			typical[j] = max(median(kappas), .02)
			all = append(all, typical[j])
		}
	}
	first := make([]int32, in.Annotators)
	for j := range first {
		first[j] = int32(j)
	}
	if len(all) == 0 {
		return first
	}
	middle := median(all)
	var copied []pairOf
	for at, c := range pairs {
		if apart != nil && (apart[at.a] || apart[at.b]) {
			continue
		}
		expected := min(typical[at.a]*typical[at.b]/middle, 1)
		if c.chance >= leastChance && min(len(agree[at.a]), len(agree[at.b])) >= 3 && c.kappa() >= leastAlike &&
			c.kappa()-expected > max(leastExcess, leastDeviation*math.Sqrt((1-expected)/c.chance)) {
			copied = append(copied, at)
		}
	}
	slices.SortFunc(copied, func(p, q pairOf) int { return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b)) })
	for _, at := range copied {
		from, to := max(first[at.a], first[at.b]), min(first[at.a], first[at.b])
		for j := range first {
			if first[j] == from {
				first[j] = to
			}
		}
	}
	return first
}

func median(list []float64) float64 {
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

// leastVariation is the least variation of an annotator's answers, compared with the variation of all answers.
const leastVariation = .25

// constant marks the annotators whose answers hardly vary. They agree without copying, and their rates show what
// their answers are worth.
func (in *Input) constant() []bool {
	_, all := in.chance()
	constant := make([]bool, in.Annotators)
	rows := in.byAnnotator()
	given := make([]float64, in.Classes)
	for j := range constant {
		var named []int32
		for _, i := range rows.of(j) {
			for _, k := range in.Rows[i].Given {
				if given[k]++; given[k] == 1 {
					named = append(named, k)
				}
			}
		}
		variation := 0.
		for _, k := range named {
			p := given[k] / float64(len(rows.of(j)))
			variation += 2 * p * (1 - p)
			given[k] = 0
		}
		constant[j] = variation < leastVariation*all
	}
	return constant
}

// estimateOnce is an estimate from the rows that repeat no other one. The rates of annotators who copy are then the
// expected shares over all their rows, without intervals.
func estimateOnce(ctx context.Context, in *Input, o Options,
	estimate func(context.Context, *Input, Options) (*Result, error)) (*Result, error) {
	repeats, n := in.copies(in.constant())
	if n == 0 {
		return estimate(ctx, in, o)
	}
	once := *in
	once.Rows = nil
	for i, repeat := range repeats {
		if !repeat {
			once.Rows = append(once.Rows, in.Rows[i])
		}
	}
	r, err := estimate(ctx, &once, o)
	if err != nil {
		return nil, err
	}
	p, copier := make([]float64, in.Classes), make([]bool, in.Annotators)
	for i, repeat := range repeats {
		if repeat {
			row := &in.Rows[i]
			r.Posterior(int(row.Bag), p)
			r.Annotators[row.Annotator].repeat(row, p)
			copier[row.Annotator] = true
		}
	}
	for j := range r.Annotators {
		if a := &r.Annotators[j]; copier[j] {
			a.shares(pair{r.PooledQ01, r.PooledQ10})
			a.Told, a.Remarks = false, []Remark{Copies}
		}
	}
	r.Notes = append(r.Notes, copiesNote(n))
	return r, nil
}

// repeat counts a row that repeats another annotator's. p are the probabilities of the labels of its bag.
func (a *Annotator) repeat(r *Row, p []float64) {
	a.Bags++
	a.Shared++
	for k, p := range p {
		given, ok := r.answer(int32(k))
		if !ok {
			continue
		}
		a.Asked++
		if given {
			a.Given++
			a.Incorrect += 1 - p
			a.named++
		} else {
			a.Missing += p
		}
		if p >= .5 {
			a.named++
			if given {
				a.both += 2
			}
		}
	}
}

func copiesNote(n int) string {
	return fmt.Sprintf("%d annotators copy another one: they agree more often than their agreement with others explains. "+
		"Their equal answers for a sample count once.", n)
}
