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
	r, momentum := &c.job.runs[block], c.job.momentum
	g := r.g
	w, m := r.w[:len(g)], r.m[:len(g)]
	for i := range g {
		m[i] = momentum*m[i] + (g[i] + r.decay*w[i])
		w[i] -= r.lr * m[i]
	}
}
