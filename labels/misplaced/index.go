package misplaced

import "context"

// index holds the position of each caption's words in the union of words that its bag mentions. Captions are
// the same in every pass, so it is computed once.
type index struct {
	union  []int32 // classes, bag after bag, each in the order in which its captions first mention them
	unions []int   // start of each bag's, and the end of all

	// own holds, for the mentions of a bag's captions, their positions in the bag's union. other holds the
	// mentions of the other bag that is compared with it: caption c%len of that bag replaces caption c. Each
	// caption is preceded by its number of words. A word outside of the union has ^class instead of a
	// position.
	own, other   []int32
	owns, others []int // start of each bag's
}

// unionOf are the words that a bag mentions.
func (x *index) unionOf(n int) []int32 { return x.union[x.unions[n]:x.unions[n+1]] }

// nextOther cuts the next caption off the captions of another bag.
func nextOther(other []int32) (caption, rest []int32) {
	n := other[0]
	return other[1 : 1+n], other[1+n:]
}

// classAt is the class of a place in a union, or outside of it.
func classAt(union []int32, place int32) int32 {
	if place < 0 {
		return ^place
	}
	return union[place]
}

// makeIndex finds the places of all words. Each bag of the order is compared with the next one.
func (f *finder) makeIndex(ctx context.Context, order []int32) error {
	in := &f.in
	f.index = &index{unions: make([]int, len(in.Captions)+1), owns: make([]int, len(in.Captions)),
		others: make([]int, len(in.Captions))}
	mentions := 0
	for _, captions := range in.Captions {
		for _, caption := range captions {
			mentions += len(caption)
		}
	}
	x := f.index
	x.own, x.other = make([]int32, 0, mentions), make([]int32, 0, mentions+f.first[len(in.Captions)])
	p := places{x: x, of: make([]int32, in.Classes)}
	for c := range p.of {
		p.of[c] = -1
	}
	for n, captions := range in.Captions {
		p.addOwn(n, captions)
	}
	next := make([]int32, len(in.Captions))
	for i, n := range order {
		next[n] = order[(i+1)%len(order)]
	}
	for n, captions := range in.Captions {
		if len(captions) > 0 {
			p.addOther(n, len(captions), in.Captions[next[n]])
		}
	}
	return ctx.Err()
}

// places holds the position of each class in the current union; -1 for none.
type places struct {
	x  *index
	of []int32
}

// addOwn adds the captions of the next bag.
func (p *places) addOwn(n int, captions [][]int32) {
	x := p.x
	x.owns[n] = len(x.own)
	for _, caption := range captions {
		for _, class := range caption {
			if p.of[class] < 0 {
				p.of[class] = int32(len(x.union) - x.unions[n])
				x.union = append(x.union, class)
			}
			x.own = append(x.own, p.of[class])
		}
	}
	x.unions[n+1] = len(x.union)
	p.clear(n)
}

func (p *places) clear(n int) {
	for _, class := range p.x.unionOf(n) {
		p.of[class] = -1
	}
}

// addOther adds the captions that a bag with the given number of captions is compared with.
func (p *places) addOther(n, captions int, other [][]int32) {
	x := p.x
	for i, class := range x.unionOf(n) {
		p.of[class] = int32(i)
	}
	x.others[n] = len(x.other)
	for c := range captions {
		caption := other[c%len(other)]
		x.other = append(x.other, int32(len(caption)))
		for _, class := range caption {
			place := p.of[class]
			if place < 0 {
				place = ^class
			}
			x.other = append(x.other, place)
		}
	}
	p.clear(n)
}
