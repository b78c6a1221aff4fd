package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"nmn/loader/alike"
)

// eachNear calls back for pairs of pictures that look alike and are not the same, of different bags; each
// pair once, the first by split and bag in front. It sorts the looks.
func eachNear(looks []look, visit func(a, b look)) {
	slices.SortFunc(looks, look.before)
	signs := make([]alike.Signature, len(looks))
	for i, l := range looks {
		signs[i] = l.sign
	}
	alike.Pairs(signs, func(first, second int) {
		if a, b := looks[first], looks[second]; a.content != b.content && a.before(b) != 0 {
			visit(a, b)
		}
	})
}

// before orders by split and bag.
func (l look) before(o look) int {
	return cmp.Or(cmp.Compare(l.split, o.split), cmp.Compare(l.bag, o.bag))
}

// likenesses holds the bags of a split that look like a bag of another split, or like an earlier one of their
// own split, with the first such bag.
type likenesses map[int32]look

// compareLooks finds pictures that look like others. It is a hint: copies of the same bytes are
// reported elsewhere, and what only looks alike may be two pictures of one scene.
func (r *Report) compareLooks(looks []look, splits []Split) {
	signed := slices.DeleteFunc(slices.Clone(looks), func(l look) bool { return l.state&isSigned == 0 })
	pairs := make([][]likenesses, len(splits)) // by the split of the first and of the second
	for i := range pairs {
		pairs[i] = make([]likenesses, len(splits))
		for j := range pairs[i] {
			pairs[i][j] = likenesses{}
		}
	}
	eachNear(signed, func(a, b look) {
		at := pairs[a.split][b.split]
		if first, known := at[b.bag]; !known || a.before(first) < 0 {
			at[b.bag] = a
		}
	})
	for second := range splits {
		for first := range second + 1 {
			if list := pairs[first][second]; len(list) > 0 {
				r.nearFinding(first, second, len(list), list.examples(splits, second))
			}
		}
	}
}

func (r *Report) nearFinding(first, second, n int, examples []string) {
	s := &r.Splits[second]
	if first == second {
		s.Pictures.Near = n
		r.add(Note, "near-duplicates", fmt.Sprintf("%s of %s (%s) that look like another one there, perhaps resized or "+
			"re-encoded", r.Samples.Count(n), s.Name, percent(n, s.Bags)), "check them: copies are learned several times",
			examples...)
		return
	}
	o := r.overlap(first, second)
	o.Near = n
	r.add(Note, "near-duplicates-across", fmt.Sprintf("%s of %s (%s) that look like one of %s, perhaps resized or "+
		"re-encoded", r.Samples.Count(n), o.Second, percent(n, s.Bags), o.First),
		"check them, and if they are copies "+leakCure(o), examples...)
}

// examples are the first ones by bag.
func (a likenesses) examples(splits []Split, second int) []string {
	var examples []string
	bags := slices.Sorted(maps.Keys(a))
	for _, bag := range bags[:min(len(bags), maxExamples)] {
		first := a[bag]
		examples = append(examples, splits[first.split].Name+" "+splits[first.split].Set.IDs[first.bag]+" ~ "+
			splits[second].Name+" "+splits[second].Set.IDs[bag])
	}
	return examples
}
