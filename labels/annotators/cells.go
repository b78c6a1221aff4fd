package annotators

import (
	"cmp"
	"slices"
)

// mark is that a row of an annotator names a class.
type mark struct {
	who  int32
	kind uint8
}

// Kinds of marks. An annotator who was asked about all classes adds the weight of an absent label, w0, to
// every class of the bag; the marks are the differences from that. For an annotator who was asked about some
// classes, the marks are the whole sum.
const (
	given     uint8 = iota // w1 in place of w0
	unknown                // nothing in place of w0
	askedYes               // w1
	askedNo                // w0
	markKinds              // their number
)

// ones and zeros are the numbers of labels 1 and 0 that a mark adds to the counts of its row.
var (
	ones  = [markKinds]float64{given: 1, askedYes: 1}
	zeros = [markKinds]float64{given: -1, unknown: -1, askedNo: 1}
)

// lists are lists of numbers, one after the other: list i is all[from[i]:from[i+1]].
type lists[T any] struct {
	from []int32
	all  []T
}

func (l *lists[T]) of(i int) []T { return l.all[l.from[i]:l.from[i+1]] }

// gathered groups n values by their list, keeping their order.
func gathered[T any](count, n int, list func(int) int, value func(int) T) lists[T] {
	l := lists[T]{make([]int32, count+1), make([]T, n)}
	for i := range n {
		l.from[list(i)+1]++
	}
	for i := range count {
		l.from[i+1] += l.from[i]
	}
	next := slices.Clone(l.from)
	for i := range n {
		at := &next[list(i)]
		l.all[*at] = value(i)
		*at++
	}
	return l
}

// cells are the labels by bag and class. A cell is a bag and a class that a row names. All other classes of a
// bag differ only in their prior, and need no cell.
type cells struct {
	first []int32 // N+1: bag i has cells first[i] to first[i+1]-1, ascending by class
	bag   []int32
	class []int32
	marks lists[mark]  // per cell
	whole lists[int32] // per bag: the annotators who were asked about all classes
}

// compile makes the cells of an input that has been checked.
func compile(in *Input) *cells {
	c := &cells{first: make([]int32, in.Bags+1)}
	rows := in.byBag()
	type named struct {
		class int32
		mark
	}
	var list []named
	c.marks.from = []int32{0}
	for i := range in.Bags {
		list = list[:0]
		for _, at := range rows.of(i) {
			eachMark(&in.Rows[at], func(class int32, kind uint8) {
				list = append(list, named{class, mark{in.Rows[at].Annotator, kind}})
			})
		}
		slices.SortStableFunc(list, func(a, b named) int { return cmp.Compare(a.class, b.class) })
		for n, m := range list {
			if n > 0 && list[n-1].class != m.class {
				c.marks.from = append(c.marks.from, int32(len(c.marks.all)))
			}
			if n == 0 || list[n-1].class != m.class {
				c.bag, c.class = append(c.bag, int32(i)), append(c.class, m.class)
			}
			c.marks.all = append(c.marks.all, m.mark)
		}
		if len(list) > 0 {
			c.marks.from = append(c.marks.from, int32(len(c.marks.all)))
		}
		c.first[i+1] = int32(len(c.class))
	}
	c.whole = asked(in)
	return c
}

// eachMark calls f with every class that a row names.
func eachMark(r *Row, f func(class int32, kind uint8)) {
	if r.Asked == nil {
		for _, k := range r.Given {
			f(k, given)
		}
		for _, k := range r.Unknown {
			f(k, unknown)
		}
		return
	}
	for _, k := range r.Asked {
		_, yes := slices.BinarySearch(r.Given, k)
		_, open := slices.BinarySearch(r.Unknown, k)
		switch {
		case yes:
			f(k, askedYes)
		case !open:
			f(k, askedNo)
		}
	}
}

// asked gathers, for each bag, the annotators who were asked about all classes.
func asked(in *Input) lists[int32] {
	var all []int32 // rows
	for i := range in.Rows {
		if in.Rows[i].Asked == nil {
			all = append(all, int32(i))
		}
	}
	return gathered(in.Bags, len(all), func(i int) int { return int(in.Rows[all[i]].Bag) },
		func(i int) int32 { return in.Rows[all[i]].Annotator })
}

// votes are how many annotators gave the label of a cell, and how many were asked for it.
func (c *cells) votes(cell int) (yes, asked int) {
	asked = len(c.whole.of(int(c.bag[cell])))
	for _, m := range c.marks.of(cell) {
		yes += int(ones[m.kind])
		asked += int(ones[m.kind] + zeros[m.kind])
	}
	return yes, asked
}
