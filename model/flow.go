package model

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
	// shares is the map in whose memory its output lies; 0 for one of its own.
	shares int
}

// newUnits makes the units of nodes without layers.
//
// A shortcut costs neither an operation nor a copy: the gradient of a block's output is that of its shortcut too, so
// that both are one tensor, to which the lowest convolutions of the block add theirs when the others have read it.
func newUnits(nodes []Node) []*unit {
	units := make([]*unit, len(nodes))
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
	return units
}
