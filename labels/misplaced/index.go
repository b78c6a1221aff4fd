package misplaced

import "context"

// index holds the place of each caption's words in the union of words that its unit mentions. Captions are the
// same in every pass, so it is computed once.
type index struct {
	union  []int32 // classes, unit after unit, each in the order in which its captions first mention them
	unions []int   // start of each unit's, and the end of all
	places []int32 // of the words of all captions
	starts []int   // start of each caption's, and the end of all
}

// unionOf are the words that a unit mentions.
func (x *index) unionOf(unit int) []int32 { return x.union[x.unions[unit]:x.unions[unit+1]] }

// placesOf are the places of a caption's words in the union of its unit.
func (x *index) placesOf(caption int) []int32 { return x.places[x.starts[caption]:x.starts[caption+1]] }

func (f *finder) makeIndex(ctx context.Context) error {
	mentions := 0
	for _, captions := range f.in.Captions {
		for _, caption := range captions {
			mentions += len(caption)
		}
	}
	x := &index{unions: make([]int, 1, len(f.units)+1), places: make([]int32, 0, mentions),
		starts: make([]int, 1, f.captions+1)}
	of := make([]int32, f.in.Classes) // place of each class in the current union; -1 for none
	for c := range of {
		of[c] = -1
	}
	for i := range f.units {
		start := len(x.union)
		for _, caption := range f.of(&f.units[i]) {
			for _, class := range caption {
				if of[class] < 0 {
					of[class] = int32(len(x.union) - start)
					x.union = append(x.union, class)
				}
				x.places = append(x.places, of[class])
			}
			x.starts = append(x.starts, len(x.places))
		}
		x.unions = append(x.unions, len(x.union))
		for _, class := range x.union[start:] {
			of[class] = -1
		}
	}
	f.index = x
	return ctx.Err()
}
