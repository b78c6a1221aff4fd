package alike

import "slices"

// Groups lists groups of similar bags: copies, near-duplicates, and bags similar to these in turn. Bags are given by
// their indices. No group has more than most bags. A larger one, a chain of pictures that look a little alike, is
// joined again starting from its nearest pairs, each group up to most bags. split is the number of such chains.
func Groups(looks []Look, most int) (groups [][]int, split int) {
	all := make([]int, len(looks))
	for i := range all {
		all[i] = i
	}
	f := newForest(len(looks))
	eachAlike(looks, all, func(a, b, _ int) { f.join(a, b, len(looks)) })
	var large []int
	for _, members := range f.trees() {
		switch {
		case len(members) <= most:
			groups = append(groups, members)
		default:
			large, split = append(large, members...), split+1
		}
	}
	if split == 0 {
		return groups, 0
	}
	slices.Sort(large)
	f = newForest(len(looks))
	for _, furthest := range []int{0, 1, 2, 4, 8, mostInAll} {
		eachAlike(looks, large, func(a, b, distance int) {
			if distance <= furthest {
				f.join(a, b, most)
			}
		})
	}
	groups = append(groups, f.trees()...)
	slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
	return groups, split
}

// eachAlike calls visit for similar pairs of some of the looks, with the number of bits in which they differ:
// 0 for copies.
func eachAlike(looks []Look, some []int, visit func(a, b, distance int)) {
	first := map[[16]byte]int{}
	var signs []Signature
	var signed []int
	for _, i := range some {
		l := &looks[i]
		if l.Signed {
			signs, signed = append(signs, l.Sign), append(signed, i)
		}
		if !l.Read {
			continue
		}
		if before, known := first[l.Content]; known {
			visit(before, i, 0)
		}
		first[l.Content] = i
	}
	Pairs(signs, func(a, b int) { visit(signed[a], signed[b], signs[a].distance(signs[b])) })
}

// forest joins places to trees: a union-find.
type forest struct {
	parent []int
	size   []int
}

func newForest(n int) *forest {
	f := &forest{make([]int, n), make([]int, n)}
	for i := range n {
		f.parent[i], f.size[i] = i, 1
	}
	return f
}

func (f *forest) root(i int) int {
	for f.parent[i] != i {
		f.parent[i] = f.parent[f.parent[i]]
		i = f.parent[i]
	}
	return i
}

// join makes one tree of the trees of a and b, unless it would have more than most places.
func (f *forest) join(a, b, most int) {
	a, b = f.root(a), f.root(b)
	if a == b || f.size[a]+f.size[b] > most {
		return
	}
	if f.size[a] < f.size[b] {
		a, b = b, a
	}
	f.parent[b], f.size[a] = a, f.size[a]+f.size[b]
}

// trees returns the trees of two places or more, in the order of their first places.
func (f *forest) trees() [][]int {
	var all [][]int
	number := map[int]int{} // number of a root, from 1
	for i := range f.parent {
		root := f.root(i)
		if f.size[root] < 2 {
			continue
		}
		if number[root] == 0 {
			all = append(all, nil)
			number[root] = len(all)
		}
		at := number[root] - 1
		all[at] = append(all[at], i)
	}
	return all
}
