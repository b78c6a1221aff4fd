package audit

import (
	"slices"
	"sync"

	"nmn/eval"
	"nmn/format/table"
	"nmn/internal/parallel"
)

// Ranking holds average precisions of finding the wrong labels: among all labels, among those that
// are there, among those that are not; and precision at the first k of all.
type Ranking struct {
	AP          eval.Number         `json:"ap"`
	IncorrectAP eval.Number         `json:"incorrect_ap"`
	MissingAP   eval.Number         `json:"missing_ap"`
	PrecisionAt map[int]eval.Number `json:"precision_at"`
}

// order is an order of N×K cells by descending score, some of them wrong. Unknown labels are not in it.
// Scores are not stored: several goroutines request them row by row at once.
type order struct {
	bags, classes int
	labels        []uint8
	wrong         func(cell int) bool
	scores        func(bag int, row []float32)
}

// tally counts the cells ranked above each wrong cell. Only the wrong cells are sorted, so its memory grows
// with the wrong cells, whatever the number of the others.
type tally struct {
	keys  []uint32    // keys of wrong cells, each once, ascending: the first has the largest score
	wrong [2][]int    // wrong cells of a key with label 0 and 1
	less  [2][]uint32 // right cells from beyond the key before, up to this one and without it
	equal [2][]uint32 // right cells with this key
}

// count makes the tally, in two passes over all cells.
func (o *order) count() *tally {
	found := make([][]uint64, (o.bags+blockRows-1)/blockRows)
	o.eachRow(func(block, first int, keys []uint32) {
		for c, key := range keys {
			if cell := first + c; o.wrong(cell) {
				found[block] = append(found[block], uint64(key)<<1|uint64(o.labels[cell]))
			}
		}
	})
	all := slices.Concat(found...)
	slices.Sort(all)
	t := &tally{}
	for _, e := range all {
		if key := uint32(e >> 1); len(t.keys) == 0 || t.keys[len(t.keys)-1] != key {
			t.keys = append(t.keys, key)
			t.wrong[0], t.wrong[1] = append(t.wrong[0], 0), append(t.wrong[1], 0)
		}
		t.wrong[e&1][len(t.keys)-1]++
	}
	o.countRight(t)
	return t
}

// countRight counts the right cells between the keys of the wrong ones: the cells of a block are sorted, and
// merged with the keys.
func (o *order) countRight(t *tally) {
	for z := range t.less {
		t.less[z], t.equal[z] = make([]uint32, len(t.keys)), make([]uint32, len(t.keys))
	}
	var mutex sync.Mutex
	var idle []*sorter
	parallel.Blocks(o.bags, blockRows, func(lo, hi int) {
		mutex.Lock()
		var own *sorter
		if n := len(idle); n > 0 {
			own, idle = idle[n-1], idle[:n-1]
		} else {
			own = new(sorter)
		}
		mutex.Unlock()
		var right [2][]uint32
		for z := range right {
			right[z] = own.room(z, (hi-lo)*o.classes)
		}
		o.rows(lo, hi, func(first int, keys []uint32) {
			for c, key := range keys {
				if z := o.labels[first+c]; z != table.Unknown && !o.wrong(first+c) {
					right[z] = append(right[z], key)
				}
			}
		})
		for z := range right {
			own.sort(right[z])
		}
		mutex.Lock()
		defer mutex.Unlock()
		for z := range right {
			t.place(z, right[z])
		}
		idle = append(idle, own)
	})
}

// place counts sorted keys of right cells in.
func (t *tally) place(z int, right []uint32) {
	at := 0
	for i, key := range t.keys {
		if at == len(right) {
			return
		}
		from := at
		for at < len(right) && right[at] < key {
			at++
		}
		t.less[z][i] += uint32(at - from)
		from = at
		for at < len(right) && right[at] == key {
			at++
		}
		t.equal[z][i] += uint32(at - from)
	}
}

// eachRow calls f for the keys of every row, with the block that it is in and its first cell; rows of a block come in
// order.
func (o *order) eachRow(f func(block, first int, keys []uint32)) {
	parallel.Blocks(o.bags, blockRows, func(lo, hi int) {
		o.rows(lo, hi, func(first int, keys []uint32) { f(lo/blockRows, first, keys) })
	})
}

// rows calls f for the keys of the rows from lo up to hi, in order.
func (o *order) rows(lo, hi int, f func(first int, keys []uint32)) {
	scores, keys := make([]float32, o.classes), make([]uint32, o.classes)
	for bag := lo; bag < hi; bag++ {
		o.scores(bag, scores)
		for c, s := range scores {
			keys[c] = eval.DescendingKey(s)
		}
		f(bag*o.classes, keys)
	}
}

// averagePrecision is over the cells with the labels asked for. Equal scores form one threshold.
func (t *tally) averagePrecision(labels ...int) eval.Number {
	wrong, all, sum := 0, 0, 0.0
	for i := range t.keys {
		here := 0
		for _, z := range labels {
			here += t.wrong[z][i]
			all += int(t.less[z][i]) + int(t.equal[z][i]) + t.wrong[z][i]
		}
		if wrong += here; here > 0 {
			sum += float64(here) * float64(wrong) / float64(all)
		}
	}
	if wrong == 0 {
		return eval.Undefined()
	}
	return eval.Number(sum / float64(wrong))
}

// ranking measures an order.
func (o *order) ranking(at []int) Ranking {
	t := o.count()
	return Ranking{AP: t.averagePrecision(0, 1), IncorrectAP: t.averagePrecision(1), MissingAP: t.averagePrecision(0),
		PrecisionAt: o.precisionAt(t, at)}
}

// precisionAt returns the share of wrong cells among the first k, for each k; equal scores are in the order
// of cells. It is undefined if there are fewer cells, or k is 0.
func (o *order) precisionAt(t *tally, at []int) map[int]eval.Number {
	out, known := make(map[int]eval.Number, len(at)), 0
	for _, z := range o.labels {
		if z != table.Unknown {
			known++
		}
	}
	for _, k := range at {
		out[k] = eval.Undefined()
		if k > 0 && k <= known {
			out[k] = eval.Number(float64(o.hits(t, k)) / float64(k))
		}
	}
	return out
}

// hits is the number of wrong cells among the first k.
func (o *order) hits(t *tally, k int) int {
	before, wrong := 0, 0
	for i, key := range t.keys {
		before += int(t.less[0][i]) + int(t.less[1][i])
		if before >= k {
			return wrong
		}
		here := t.wrong[0][i] + t.wrong[1][i]
		tied := here + int(t.equal[0][i]) + int(t.equal[1][i])
		if before+tied > k {
			return wrong + o.firstOf(key, k-before)
		}
		before, wrong = before+tied, wrong+here
	}
	return wrong
}

// firstOf is the number of wrong cells among the first n with a key.
func (o *order) firstOf(key uint32, n int) (wrong int) {
	for lo := 0; lo < o.bags && n > 0; lo += blockRows {
		o.rows(lo, min(lo+blockRows, o.bags), func(first int, keys []uint32) {
			for c, other := range keys {
				if other != key || n == 0 || o.labels[first+c] == table.Unknown {
					continue
				}
				n--
				if o.wrong(first + c) {
					wrong++
				}
			}
		})
	}
	return wrong
}
