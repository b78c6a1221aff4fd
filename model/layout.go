package model

import (
	"fmt"
	"math"
	"slices"

	"nmn/kernels"
	"nmn/kernels/tensor"
)

// life is the range of operations of a step during which a tensor holds a needed value, and its place in the
// memory that all maps and their gradients share. Operations are numbered as they run. With M maps, 0 to M
// compute the maps and the logits, and M+1 to 2M+1 go backward from the logits to the first map.
type life struct {
	from, to int
	at, size int // elements
}

// overlaps reports whether both hold something at one time.
func (l *life) overlaps(o *life) bool { return l.from <= o.to && o.from <= l.to }

// layout places the outputs of all layers but the last, and their gradients: nearly all the memory of a step.
// The gradients of the lowest layers are as large as their maps. They take the place of the maps of higher
// layers, which have been used up by then. Without training a map is overwritten as soon as it has been read.
type layout struct {
	maps, gradients []*life // no gradients without training
	size            int     // elements
}

// layout places maps and gradients of a number of frames.
func (n *Net) layout(frames int, training bool) (layout, error) {
	const aligned = 128 // elements, at least 256 bytes
	l := layout{}
	l.maps, l.gradients = lives(n.units, len(n.fc)-1, training)
	shapes := n.shapes()
	for i, m := range l.maps {
		size, err := tensor.Elements([]int{frames, shapes[i].h, shapes[i].w, shapes[i].c})
		if err != nil {
			return l, err
		}
		m.size = (size + aligned - 1) / aligned * aligned
		if training {
			l.gradients[i].size = m.size
		}
	}
	// Features and the last hidden map are read after a step: Plan.Features, Extract.
	for _, kept := range [...]int{len(n.units) + n.config.tap(), len(l.maps)} {
		if kept > 0 {
			l.maps[kept-1].to = math.MaxInt
		}
	}
	var err error
	l.size, err = place(slices.Concat(l.maps, l.gradients))
	return l, err
}

// lives finds when the maps of a backbone, and the hidden ones of a head above, hold needed values. The
// gradient of a sum is also the gradient of its shortcut: they are one life, and so are maps that share
// memory.
func lives(units []*unit, hidden int, training bool) (maps, gradients []*life) {
	count := len(units) + hidden
	back := func(op int) int { return 2*count + 1 - op }
	for op := range count {
		m, gradient := &life{from: op, to: op}, &life{from: back(op), to: back(op)}
		if op < len(units) && units[op].Shortcut > 0 {
			s := units[op].Shortcut - 1
			maps[s].to, gradient = max(maps[s].to, op), gradients[s]
			if units[s].shares == op+1 {
				m = maps[s]
			}
		}
		maps, gradients = append(maps, m), append(gradients, gradient)
	}
	read := func(m, op int) { // by the operation op and, in training, by its gradients
		if m < 0 {
			return
		}
		if gradients[m].from = min(gradients[m].from, back(op)); training {
			op = back(op)
		}
		maps[m].to = max(maps[m].to, op)
	}
	for op := range count + 1 {
		switch {
		case op >= len(units):
			read(op-1, op)
		case units[op].Kind != Convolution: // the gradient of a pool reads its output too
			read(op, op)
			fallthrough
		default:
			read(units[op].X-1, op)
		}
	}
	if !training {
		gradients = nil
	}
	return maps, gradients
}

// place gives each life a place that overlaps no other life at the same time, the largest first, each as low
// as possible. It returns the total size.
func place(all []*life) (size int, err error) {
	slices.SortStableFunc(all, func(a, b *life) int { return b.size - a.size })
	var placed []*life // ordered by place
	for _, l := range all {
		if slices.Contains(placed, l) {
			continue
		}
		l.at = 0
		for _, p := range placed {
			if p.overlaps(l) && p.at < l.at+l.size {
				l.at = max(l.at, p.at+p.size)
			}
		}
		if l.size > math.MaxInt-l.at {
			return 0, fmt.Errorf("the maps of a step have too many values: %w", kernels.ErrOutOfMemory)
		}
		i, _ := slices.BinarySearchFunc(placed, l.at, func(p *life, at int) int { return p.at - at })
		placed, size = slices.Insert(placed, i, l), max(size, l.at+l.size)
	}
	return size, nil
}
