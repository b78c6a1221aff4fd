package doctor

import (
	"fmt"
	"slices"

	"nmn/loader"
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
