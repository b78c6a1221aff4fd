package model

// Gradients lists the parameters that learn in the order in which a step completes their gradients: first those of the
// noise model, then layer by layer from the classifier down. There is an entry for every layer, empty where nothing of
// it learns. Which parameters learn, Freeze says.
func (n *Net) Gradients() [][]*Param {
	all := [][]*Param{learning(n.noise)}
	for i := len(n.fc) - 1; i >= 0; i-- {
		all = append(all, learning(n.fc[i]))
	}
	for i := len(n.blocks) - 1; i >= 0; i-- {
		for j := len(n.blocks[i]) - 1; j >= 0; j-- {
			all = append(all, learning(n.blocks[i][j]))
		}
	}
	return all
}

// UpperGradients is how many of the Gradients are complete after the UpperPart of a step.
func (n *Net) UpperGradients() int { return 1 + len(n.fc) }

// learning are the parameters of a layer that learn.
func learning(l layer) (some []*Param) {
	for _, p := range []*Param{l.w, l.b} {
		if p != nil && p.G != nil {
			some = append(some, p)
		}
	}
	return some
}

// done says that the gradients of a layer are complete.
func (o *StepOptions) done(layer int) error {
	if o.Done == nil {
		return nil
	}
	return o.Done(layer)
}
