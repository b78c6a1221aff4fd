package model

import "slices"

// unit is a node of the backbone with its layer, and how gradients flow through it.
type unit struct {
	Node
	layer // of a convolution

	// below is the unit that made the map that it reads, nil for the input of the net.
	below *unit
	// first and final say that, going backward, it is the first and the last that adds to the gradient of the map that it
	// reads. The first overwrites what the memory holds; the last applies the mask of the ReLU below.
	first, final bool
	// alone says that the gradient of its output comes from one unit above, which can therefore take the gradient of its
	// bias along.
	alone bool
	// buffer is where the gradient of its output lies.
	buffer int
	// shares is the map in whose memory its output lies; 0 for one of its own.
	shares int
}

// newUnits makes the units of nodes without layers. hidden is the number of maps of the head behind them, whose gradients
// lie in the same buffers: turns has theirs, and buffers is how many there are.
//
// A shortcut costs neither an operation nor a copy: the gradient of a block's output is that of its shortcut too, so that
// both are one tensor, to which the lowest convolutions of the block add theirs when the others have read it.
func newUnits(nodes []Node, hidden int) (units []*unit, turns []int, buffers int) {
	units = make([]*unit, len(nodes))
	readers, carried := make([][]int, len(nodes)+1), make([]bool, len(nodes)+1) // of each map
	for i, node := range nodes {
		units[i] = &unit{Node: node}
		if node.X > 0 {
			units[i].below = units[node.X-1]
		}
		readers[node.X] = append(readers[node.X], i)
		carried[node.Shortcut] = carried[node.Shortcut] || node.Shortcut > 0
	}
	for i, u := range units {
		from := readers[u.X]
		u.first, u.final = i == from[len(from)-1] && !carried[u.X], i == from[0]
		u.alone = len(readers[i+1]) == 1 && !carried[i+1]
		if s := u.Shortcut; s > 0 && len(readers[s]) == 0 {
			units[s-1].shares = i + 1 // nothing else reads the shortcut, and its gradient does not need it
		}
	}
	all, buffers := assignBuffers(nodes, hidden)
	for i, u := range units {
		u.buffer = all[i]
	}
	return units, all[len(nodes):], buffers
}

// assignBuffers gives the gradient of every node's output, and those of so many maps in a row behind them, a buffer,
// such that none is overwritten before it has been read.
func assignBuffers(nodes []Node, hidden int) (assigned []int, buffers int) {
	maps := len(nodes) + hidden
	same, lowest, highest := make([]int, maps), make([]int, maps), make([]int, maps)
	for i := range same { // the operation that writes map i, and until others are known the next one reads it
		same[i], lowest[i], highest[i] = i, i, i
	}
	root := func(m int) int {
		for same[m] != m {
			m = same[m]
		}
		return m
	}
	read := func(m, by int) {
		if m >= 0 {
			highest[root(m)] = max(highest[root(m)], by)
		}
	}
	for i, node := range nodes {
		if s := node.Shortcut; s > 0 {
			r := root(s - 1)
			same[i] = r
			highest[r] = max(highest[r], i)
		}
		read(node.X-1, i)
	}
	for i := len(nodes); i <= maps; i++ {
		read(i-1, i)
	}
	assigned = make([]int, maps)
	var free []int // from which operation down each buffer is free
	for op := maps; op >= 0; op-- {
		for m := range maps {
			if same[m] != m || highest[m] != op {
				continue
			}
			b := slices.IndexFunc(free, func(from int) bool { return op < from })
			if b < 0 {
				b, free = len(free), append(free, 0)
			}
			assigned[m], free[b] = b, lowest[m]
		}
	}
	for m := range assigned {
		assigned[m] = assigned[root(m)]
	}
	return assigned, len(free)
}
