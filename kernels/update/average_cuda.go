//go:build cuda

package update

// Average implements Ops.
func (c *CUDA) Average(entries []Entry, share float32) error {
	if err := fitShare(share); err != nil {
		return err
	}
	table, err := c.list("average", entries, UseG|UseW|UseAverage)
	if err != nil || c.chunks == 0 {
		return err
	}
	grid, block := c.launchShape()
	return c.mean.average.Launch(c.device.Stream, grid, block, averageArguments{entries: table, count: int32(len(c.next)),
		share: share})
}

// Exchange implements Ops.
func (c *CUDA) Exchange(entries []Entry) error {
	table, err := c.list("exchange", entries, UseG|UseW|UseAverage)
	if err != nil || c.chunks == 0 {
		return err
	}
	grid, block := c.launchShape()
	return c.mean.exchange.Launch(c.device.Stream, grid, block, exchangeArguments{entries: table,
		count: int32(len(c.next))})
}
