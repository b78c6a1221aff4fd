package update

// Average implements Ops.
func (c *CPU) Average(entries []Entry, share float32) error {
	if err := fitShare(share); err != nil {
		return err
	}
	c.job.scale = share
	return c.apply("average", entries, UseG|UseW|UseAverage, c.averageBlock)
}

func (c *CPU) runAverageBlock(_, block int) {
	r := &c.job.runs[block]
	c.level.Approach(r.average, r.w, c.job.scale)
}

// Exchange implements Ops.
func (c *CPU) Exchange(entries []Entry) error {
	return c.apply("exchange", entries, UseG|UseW|UseAverage, c.exchangeBlock)
}

func (c *CPU) runExchangeBlock(_, block int) {
	r := &c.job.runs[block]
	average := r.average[:len(r.w)]
	for i, w := range r.w {
		r.w[i], average[i] = average[i], w
	}
}
