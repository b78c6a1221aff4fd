package conv

// packBlock packs one panel of the shared filter.
func (c *CPU) packBlock(_, panel int) {
	k := &c.corr
	c.packPanel(k, c.packed[panel*k.plan.wide*k.reduction():], panel, 0, k.reduction())
}

// packPanel writes dst[e·width + j] = F[from+e, panel's first channel + j]. The reduction index runs over
// filter rows, columns and channels. Channels beyond the last are 0.
func (c *CPU) packPanel(k *correlation, dst []float32, panel, from, length int) {
	width := k.plan.panelWidth(panel, k.width)
	column := panel * k.plan.wide
	valid := min(width, k.width-column)
	if !k.turned {
		c.level.PackRows(dst, width, k.filter[column*k.reduction()+from:], k.reduction(), valid, length)
		return
	}
	taps := k.taps.of(k)
	for length > 0 {
		tap, channel := from/k.depth, from%k.depth
		rows := min(length, k.depth-channel)
		src := (channel*taps.rows*taps.columns+taps.at(tap/k.s, tap%k.s))*k.width + column
		c.level.PackColumns(dst, width, k.filter[src:], taps.rows*taps.columns*k.width, rows, valid)
		dst = dst[rows*width:]
		from, length = from+rows, length-rows
	}
}
