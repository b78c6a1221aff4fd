package update

// SGD implements Ops.
func (c *CPU) SGD(entries []Entry, momentum float32) error {
	if err := c.cut("sgd", entries, UseG|UseW|UseM); err != nil {
		return err
	}
	c.job.momentum = momentum
	c.workers.Run(len(c.job.runs), c.sgdBlock)
	c.release()
	return nil
}

func (c *CPU) runSGDBlock(_, block int) {
	r := &c.job.runs[block]
	c.level.SGD(r.w, r.g, r.m, r.lr, c.job.momentum, r.decay)
}
