package update

// Average implements Ops.
func (c *CPU) Average(entries []Entry, share float32) error {
	if err := fitShare(share); err != nil {
		return err
	}
	if err := c.cut("average", entries, UseG|UseW|UseAverage); err != nil {
		return err
	}
	c.job.scale = share
	c.workers.Run(len(c.job.runs), c.averageBlock)
	c.release()
	return nil
}

func (c *CPU) runAverageBlock(_, block int) {
	r := &c.job.runs[block]
	c.level.Approach(r.average, r.w, c.job.scale)
}

// Exchange implements Ops.
func (c *CPU) Exchange(entries []Entry) error {
	if err := c.cut("exchange", entries, UseG|UseW|UseAverage); err != nil {
		return err
	}
	c.workers.Run(len(c.job.runs), c.exchangeBlock)
	c.release()
	return nil
}

func (c *CPU) runExchangeBlock(_, block int) {
	r := &c.job.runs[block]
	average := r.average[:len(r.w)]
	for i, w := range r.w {
		r.w[i], average[i] = average[i], w
	}
}
