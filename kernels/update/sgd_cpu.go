package update

// SGD implements Ops.
func (c *CPU) SGD(entries []Entry, momentum float32) error {
	c.job.momentum = momentum
	return c.apply("sgd", entries, UseG|UseW|UseM, c.sgdBlock)
}

func (c *CPU) runSGDBlock(_, block int) {
	r := &c.job.runs[block]
	c.level.SGD(r.w, r.g, r.m, r.lr, c.job.momentum, r.decay)
}
