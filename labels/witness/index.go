package witness

import (
	"context"
	"encoding/binary"
	"errors"

	"nmn/group"
)

// index says where words stand among those that their bag mentions, its union: captions are the same in every pass.
type index struct {
	union  []int32 // classes, bag after bag, each in the order in which its captions first mention them
	unions []int   // start of each bag's, and the end of all

	// Places in its bag's union of the mentions of a bag's captions, and of those of the other bag that is compared with
	// it: caption c%len of that bag in the place of caption c, each behind the number of its words. A word outside of the
	// union has ^class in the place of a place.
	own, other   []int32
	owns, others []int // start of each bag's
}

// unionOf are the words that a bag mentions.
func (x *index) unionOf(n int) []int32 { return x.union[x.unions[n]:x.unions[n+1]] }

// nextOther cuts the next caption off those of another bag.
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
	if f.g.Size() == 1 {
		next := make([]int32, f.bags)
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
	return f.exchangeOthers(ctx, order, &p)
}

// places are of each class in the union at hand; -1 for none.
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

// addOther adds the captions that a bag of so many captions is compared with.
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

// exchangeOthers passes the captions of all ranks around, and each takes those that its own are compared with.
func (f *finder) exchangeOthers(ctx context.Context, order []int32, p *places) error {
	const pieceOf = 4 << 20
	before := make([]int32, f.bags) // bag that each is compared with
	for i := range order {
		before[order[(i+1)%len(order)]] = order[i]
	}
	next := 0
	return group.Stream(f.g, func() ([]byte, error) {
		var data []byte
		for ; next < len(f.in.Captions) && len(data) < pieceOf; next++ {
			if captions := f.in.Captions[next]; len(captions) > 0 {
				data = binary.AppendUvarint(data, uint64(f.start+next))
				data = appendCaptions(data, captions)
			}
		}
		return data, ctx.Err()
	}, func(_ int, data []byte) error {
		r := captionReader{data: data, classes: f.in.Classes}
		for len(r.data) > 0 && r.err == nil {
			bag := r.number(f.bags)
			captions := r.captions()
			if n := int(before[bag]) - f.start; r.err == nil && n >= 0 && n < len(f.in.Captions) {
				p.addOther(n, len(f.in.Captions[n]), captions)
			}
		}
		return r.err
	})
}

// appendCaptions appends the words of captions to data, each as the distance from the one before it.
func appendCaptions(data []byte, captions [][]int32) []byte {
	data = binary.AppendUvarint(data, uint64(len(captions)))
	for _, caption := range captions {
		data = binary.AppendUvarint(data, uint64(len(caption)))
		last := int32(0)
		for _, class := range caption {
			data = binary.AppendUvarint(data, uint64(class-last))
			last = class
		}
	}
	return data
}

// captionReader reads what appendCaptions wrote. Captions hold until the next ones are read.
type captionReader struct {
	data    []byte
	classes int
	words   []int32
	out     [][]int32
	ends    []int
	err     error
}

// number reads one below a limit; 0 where there is none.
func (r *captionReader) number(limit int) int {
	v, used := binary.Uvarint(r.data)
	if used <= 0 || v >= uint64(limit) {
		r.err, r.data = errors.New("witness: captions of another rank cannot be read"), nil
		return 0
	}
	r.data = r.data[used:]
	return int(v)
}

func (r *captionReader) captions() [][]int32 {
	r.words, r.out, r.ends = r.words[:0], r.out[:0], r.ends[:0]
	for range r.number(mostBags) {
		last := 0
		for range r.number(r.classes + 1) {
			last += r.number(r.classes - last)
			r.words = append(r.words, int32(last))
		}
		r.ends = append(r.ends, len(r.words))
		if r.err != nil {
			return nil
		}
	}
	from := 0
	for _, to := range r.ends {
		r.out = append(r.out, r.words[from:to])
		from = to
	}
	return r.out
}
