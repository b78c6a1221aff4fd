package misplaced

import "slices"

// ordered are the values of t, of the captions and of foreign ones in their places, that stand at some ascending places
// of the order of all.
func (f *finder) ordered(p *peers, places []int) []float64 {
	if len(places) == 0 {
		return nil
	}
	values := make([]float64, 0, 2*len(p.captions))
	for _, at := range p.captions {
		values = append(values, f.own[at], f.null[at])
	}
	arrange(values, 0, places)
	out := make([]float64, len(places))
	for i, at := range places {
		out[i] = values[at]
	}
	return out
}

// arrange puts the values of places, which are counted from first on, where sorting would put them. Only the parts that
// have places are divided further (quickselect).
func arrange(values []float64, first int, places []int) {
	const few = 32
	for len(places) > 0 {
		if len(values) <= few {
			slices.Sort(values)
			return
		}
		a, b, c := values[0], values[len(values)/2], values[len(values)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		less, i, more := 0, 0, len(values) // values before less are smaller, and values from more on larger than the pivot
		for i < more {
			switch v := values[i]; {
			case v < pivot:
				values[i], values[less] = values[less], v
				less, i = less+1, i+1
			case v > pivot:
				more--
				values[i], values[more] = values[more], v
			default:
				i++
			}
		}
		low, _ := slices.BinarySearch(places, first+less)
		high, _ := slices.BinarySearch(places, first+more)
		arrange(values[:less], first, places[:low])
		values, first, places = values[more:], first+more, places[high:]
	}
}
