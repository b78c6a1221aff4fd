package doctor

import "fmt"

// compareContent finds pictures or rows of several bags with the same content. It sorts the looks.
func (r *Report) compareContent(looks []look, splits []Split, noun string, within func(split int) *int) {
	examples := map[*Overlap][]string{}
	eachCopies(looks, func(c copies) {
		for second := range splits {
			n := c.count(second)
			if n > 1 {
				*within(second) += n - 1
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
	for i := range r.Overlaps {
		if o := &r.Overlaps[i]; o.Content > 0 {
			r.add(Finding{Warning, "duplicates-across", fmt.Sprintf("%s and %s share %s, with just the same content", o.First, o.Second, counted(o.Content, noun)),
				leakCure(o), examples[o]})
		}
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
