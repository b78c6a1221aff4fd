package model

// unit is a node of the backbone with its layer, and how gradients flow through it.
type unit struct {
	Node
	layer // of a convolution

	// below is the unit that made the map that it reads, nil for the input of the net.
	below *unit
	// first and final are set if, in the backward pass, the unit is the first or the last to add to the
	// gradient of the map it reads. The first overwrites the memory, and the last applies the mask of the
	// ReLU below.
	first, final bool
	// alone is set if the gradient of its output comes from a single unit above, which can then also compute
	// the gradient of its bias.
	alone bool
	// shares is the map whose memory holds its output; 0 if it has its own memory.
	shares int
}

// newUnits makes the units of nodes without layers.
//
// A shortcut costs neither an operation nor a copy. The gradient of a block's output is also the gradient of
// its shortcut, so both are one tensor. The lowest convolutions of the block add their gradients to it after
// the others have read it.
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
