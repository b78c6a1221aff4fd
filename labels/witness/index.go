package witness

// index says where words stand among those that their bag mentions, its union: captions are the same in every pass.
type index struct {
	union  []int32 // classes, bag after bag, each in the order in which its captions first mention them
	unions []int   // start of each bag's, and the end of all

	// Places in its bag's union of the mentions of a bag's captions, and of those of the other bag that is compared with
	// it, caption c%len of that bag in the place of caption c; of these, -1 for a word outside of the union.
	own, other   []int32
	owns, others []int // start of each bag's
}

func newIndex(in *Input, partner []int) *index {
	x := &index{unions: make([]int, len(in.Captions)+1), owns: make([]int, len(in.Captions)),
		others: make([]int, len(in.Captions))}
	mentions := 0
	for _, captions := range in.Captions {
		for _, caption := range captions {
			mentions += len(caption)
		}
	}
	x.own, x.other = make([]int32, 0, mentions), make([]int32, 0, mentions)
	place := make([]int32, in.Classes)
	for c := range place {
		place[c] = -1
	}
	for n, captions := range in.Captions {
		x.owns[n], x.others[n] = len(x.own), len(x.other)
		for _, caption := range captions {
			for _, class := range caption {
				if place[class] < 0 {
					place[class] = int32(len(x.union) - x.unions[n])
					x.union = append(x.union, class)
				}
				x.own = append(x.own, place[class])
			}
		}
		of := in.Captions[partner[n]]
		for c := range captions {
			for _, class := range of[c%len(of)] {
				x.other = append(x.other, place[class])
			}
		}
		for _, class := range x.union[x.unions[n]:] {
			place[class] = -1
		}
		x.unions[n+1] = len(x.union)
	}
	return x
}
