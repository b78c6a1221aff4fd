package audit

import (
	"slices"
	"sync"

	"nmn/eval"
)

// Ranking holds average precisions of finding the wrong labels: among all labels, among those that
// are there, among those that are not; and precision at the first k of all.
type Ranking struct {
	AP          eval.Number         `json:"ap"`
	IncorrectAP eval.Number         `json:"incorrect_ap"`
	MissingAP   eval.Number         `json:"missing_ap"`
	PrecisionAt map[int]eval.Number `json:"precision_at"`
}

// order is an order of N×K cells by descending score, of which some are wrong. Scores are not kept: they are asked for
// in rows, by several goroutines at once.
type order struct {
	bags, classes int
	labels        []uint8
	wrong         func(cell int) bool
	scores        func(bag int, row []float32)
}

// tally counts the cells that come before places of an order: those of the wrong cells, which alone are sorted. The
// memory is that of the wrong cells, whatever the number of the others.
type tally struct {
	keys  []uint32    // of wrong cells, each once, ascending: the first has the largest score
	wrong [2][]int    // wrong cells of a key with label 0 and 1
	less  [2][]uint32 // right cells from beyond the key before, up to this one and without it
	equal [2][]uint32 // right cells with this key
	last  [2]int      // right cells beyond all keys
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

// prefixBits of a key lead to the few keys of wrong cells among which its place is searched.
const prefixBits = 16

func (o *order) countRight(t *tally) {
	start := make([]int32, 1<<prefixBits+1) // the first key with at least this prefix
	at := 0
	for prefix := range start {
		for at < len(t.keys) && int(t.keys[at]>>(32-prefixBits)) < prefix {
			at++
		}
		start[prefix] = int32(at)
	}
	for z := range t.less {
		t.less[z], t.equal[z] = make([]uint32, len(t.keys)), make([]uint32, len(t.keys))
	}
	var free []*[2][2][]uint32 // counters that no goroutine has; less and equal, by label
	var mutex sync.Mutex
	take := func() *[2][2][]uint32 {
		mutex.Lock()
		defer mutex.Unlock()
		if n := len(free); n > 0 {
			c := free[n-1]
			free = free[:n-1]
			return c
		}
		c := new([2][2][]uint32)
		for i := range c {
			for z := range c[i] {
				c[i][z] = make([]uint32, len(t.keys)+1)
			}
		}
		return c
	}
	inBlocks(o.bags, blockRows, func(_, lo, hi int) {
		own := take()
		o.rows(lo, hi, func(first int, keys []uint32) {
			for c, key := range keys {
				cell := first + c
				if o.wrong(cell) {
					continue
				}
				prefix := key >> (32 - prefixBits)
				a, b := int(start[prefix]), int(start[prefix+1])
				for a < b {
					if middle := int(uint(a+b) >> 1); t.keys[middle] < key {
						a = middle + 1
					} else {
						b = middle
					}
				}
				kind := 0
				if a < len(t.keys) && t.keys[a] == key {
					kind = 1
				}
				own[kind][o.labels[cell]][a]++
			}
		})
		mutex.Lock()
		free = append(free, own)
		mutex.Unlock()
	})
	for _, own := range free {
		for z := range 2 {
			for i := range t.keys {
				t.less[z][i] += own[0][z][i]
				t.equal[z][i] += own[1][z][i]
			}
			t.last[z] += int(own[0][z][len(t.keys)])
		}
	}
}

// eachRow calls f for the keys of every row, with the block that it is in and its first cell; rows of a block come in
// order.
func (o *order) eachRow(f func(block, first int, keys []uint32)) {
	inBlocks(o.bags, blockRows, func(block, lo, hi int) {
		o.rows(lo, hi, func(first int, keys []uint32) { f(block, first, keys) })
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

// precisionAt is the share of wrong cells among the first k, for each k; equal scores are in the order of cells. It is
// undefined where there are fewer cells, or k is 0.
func (o *order) precisionAt(t *tally, at []int) map[int]eval.Number {
	out := make(map[int]eval.Number, len(at))
	for _, k := range at {
		out[k] = eval.Undefined()
		if k > 0 && k <= o.bags*o.classes {
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
				if other != key || n == 0 {
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
