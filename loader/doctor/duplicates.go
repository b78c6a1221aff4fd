package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"nmn/loader"
	"nmn/loader/alike"
	"nmn/text"
)

// Copies are pictures or rows of a split that repeat one of another bag of it.
type Copies struct {
	Duplicates int `json:"duplicates"`
	// Relabelled counts the duplicates whose labels differ from the labels of the first one: some of these
	// labels are wrong.
	Relabelled int `json:"relabelled_duplicates"`
}

// compareContent finds pictures or rows of several bags with the same content. It sorts the looks.
func (r *Report) compareContent(looks []look, splits []Split, noun text.Plural, within func(split int) *Copies) {
	examples := map[*Overlap][]string{}
	eachCopies(looks, func(c copies) {
		for second := range splits {
			n := c.count(second)
			if n > 1 {
				within(second).add(c, splits[second].Set, second)
			}
			for first := range second {
				a, shared := c.of(first)
				if n == 0 || !shared {
					continue
				}
				b, _ := c.of(second)
				o := r.overlap(first, second)
				o.Content += n
				if len(examples[o]) < maxExamples {
					examples[o] = append(examples[o], nameOf(splits, a)+" = "+nameOf(splits, b))
				}
			}
		}
	})
	for i := range splits {
		r.copyFindings(&r.Splits[i], within(i), noun)
	}
	for i := range r.Overlaps {
		if o := &r.Overlaps[i]; o.Content > 0 {
			r.add(Warning, "duplicates-across", fmt.Sprintf("%s and %s share %s, with just the same content", o.First, o.Second,
				noun.Count(o.Content)), leakCure(o), examples[o]...)
		}
	}
}

// add counts what comes after the first bag of a split.
func (d *Copies) add(c copies, set *loader.Set, split int) {
	labels, k := set.Labels.Uint8s(), set.Vocabulary.Len()
	row := func(l look) []uint8 { return labels[int(l.bag)*k : (int(l.bag)+1)*k] }
	first, _ := c.of(split)
	bag := first.bag
	for _, l := range c {
		if int(l.split) != split || l.bag == bag {
			continue
		}
		bag = l.bag
		d.Duplicates++
		if !slices.Equal(row(l), row(first)) {
			d.Relabelled++
		}
	}
}

func (r *Report) copyFindings(s *SplitReport, c *Copies, noun text.Plural) {
	if c.Duplicates > 0 {
		r.add(Note, "duplicates", fmt.Sprintf("exact copies within %s: %s (%s), each learned several times", s.Name,
			noun.Count(c.Duplicates), percent(c.Duplicates, s.Frames)), "keep one of each")
	}
	if c.Relabelled > 0 {
		r.add(Note, "relabelled-duplicates", fmt.Sprintf("copies within %s whose labels differ from the first copy: %d of %d",
			s.Name, c.Relabelled, c.Duplicates),
			"some of their labels are wrong or missing: look at them, or let nmn audit rank labels")
	}
}

// nameOf names a picture: its split, its bag and, of a video, its frame.
func nameOf(splits []Split, l look) string {
	s := splits[l.split]
	name := s.Name + " " + s.Set.IDs[l.bag]
	if s.Set.Source != nil && s.Set.Source.Frames(int(l.bag)) > 1 {
		name += fmt.Sprintf(" frame %d", l.frame)
	}
	return name
}

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
