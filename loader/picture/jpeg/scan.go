package jpeg

import (
	"errors"
	"fmt"
)

// scan holds the header of a scan.
type scan struct {
	components int
	parts      [maxComponents]scanPart // the first of them
	first      int                     // coefficients of a progressive scan, in zigzag order
	last       int
	refines    bool // bits of coefficients that are known in part
	shift      uint // bits below those that it gives
	skip       int  // blocks ahead without any coefficient
	left       int  // MCUs until a restart marker
}

// scanPart is a component of a scan with the Huffman tables that it uses.
type scanPart struct {
	component *component
	dc, ac    *huffman
	mean      int32 // mean of the previous block, in units of the quantisation
}

func (s *scan) all() []scanPart { return s.parts[:s.components] }

// scanHeader reads the header of a scan.
func (d *Decoder) scanHeader(body []byte) error {
	if !d.framed() {
		return errors.New("a scan before the frame header")
	}
	if d.scans++; d.scans > maxScans {
		return errScans
	}
	if len(body) < 6 || len(body) != 4+2*int(body[0]) || int(body[0]) > d.components {
		return fmt.Errorf("a scan header of %d bytes", len(body))
	}
	s := &d.scan
	*s = scan{components: int(body[0]), last: 63}
	blocks := 0
	for i := range s.components {
		part, err := d.scanPart(body[1+2*i], body[2+2*i])
		if err != nil {
			return err
		}
		for _, before := range s.parts[:i] {
			if before.component == part.component {
				return fmt.Errorf("component %d twice in a scan", part.component.id)
			}
		}
		s.parts[i] = part
		blocks += part.component.sampling[0] * part.component.sampling[1]
	}
	if blocks > 10 && s.components > 1 {
		return fmt.Errorf("%d blocks in an MCU, 10 are allowed", blocks)
	}
	if d.progressive {
		return s.progression(body[1+2*s.components:])
	}
	return nil
}

// progression reads which coefficients, and which of their bits, a progressive scan gives.
func (s *scan) progression(b []byte) error {
	s.first, s.last = int(b[0]), int(b[1])
	high, low := b[2]>>4, b[2]&15
	s.refines, s.shift = high != 0, uint(low)
	switch {
	case s.first == 0 && s.last != 0, s.first > s.last, s.last > 63, s.first > 0 && s.components > 1:
		return fmt.Errorf("coefficients %d to %d of %d components", s.first, s.last, s.components)
	case s.refines && high != low+1:
		return fmt.Errorf("bits from %d to %d", high, low)
	}
	return nil
}

// scanPart finds a component and its tables.
func (d *Decoder) scanPart(id, tables uint8) (part scanPart, err error) {
	for i := range d.comps() {
		if d.comps()[i].id == id {
			part.component = &d.comps()[i]
		}
	}
	if part.component == nil {
		return part, fmt.Errorf("no component %d", id)
	}
	if tables>>4 > 3 || tables&15 > 3 {
		return part, fmt.Errorf("Huffman tables %#x", tables)
	}
	part.dc, part.ac = &d.tables[0][tables>>4], &d.tables[1][tables&15]
	return part, nil
}

var (
	errCode     = errors.New("the coded data have a code that is in no table")
	errShort    = errors.New("the coded data end early")
	errRestarts = errors.New("a restart marker is missing")
)

// readScan takes the coded data of a scan.
func (d *Decoder) readScan() error {
	d.at += d.entropy.load(d.data[d.at:], d.interval > 0)
	for i := range d.scan.all() {
		part := &d.scan.parts[i]
		if err := part.ready(d); err != nil {
			return err
		}
	}
	d.scan.left = d.interval
	columns, rows := d.grid()
	for row := range rows {
		if err := d.mcuRow(columns, row); err != nil {
			return err
		}
	}
	if d.entropy.overrun() {
		return errShort
	}
	return nil
}

// ready checks that the tables of a part are there. Quantisation tables count as they are at the first scan
// of a component.
func (p *scanPart) ready(d *Decoder) error {
	c, s := p.component, &d.scan
	if needsDC := s.first == 0 && !s.refines; needsDC && !p.dc.defined || s.last > 0 && !p.ac.defined {
		return errors.New("a Huffman table is missing")
	}
	if !c.seen {
		if !d.quant[c.table].defined {
			return errNoQuantisation
		}
		c.seen, c.factors = true, d.quant[c.table].factors
	}
	if !d.progressive {
		p.dc.combine(false)
		p.ac.combine(true)
	}
	return nil
}

// grid is the number of MCUs of a scan in a row, and of rows.
func (d *Decoder) grid() (columns, rows int) {
	if d.scan.components > 1 {
		return d.mcus[0], d.mcus[1]
	}
	blocks := d.scan.parts[0].component.blocks
	return blocks[0], blocks[1]
}

// countMCU is called ahead of each MCU, and passes a restart marker if one is due.
func (d *Decoder) countMCU() error {
	if d.interval == 0 {
		return nil
	}
	if d.scan.left == 0 {
		if d.entropy.overrun() {
			return errShort
		}
		if !d.entropy.restart() {
			return errRestarts
		}
		for i := range d.scan.all() {
			d.scan.parts[i].mean = 0
		}
		d.scan.skip, d.scan.left = 0, d.interval
	}
	d.scan.left--
	return nil
}

// mcuRow takes a row of MCUs. A sequential scan has whole blocks, which are transformed at once.
func (d *Decoder) mcuRow(columns, row int) error {
	if d.progressive {
		return d.takeMCUs(columns, row)
	}
	for _, part := range d.scan.all() {
		clear(part.component.coefs)
	}
	if err := d.takeMCUs(columns, 0); err != nil {
		return err
	}
	for _, part := range d.scan.all() {
		c := part.component
		_, down := d.scan.blocksOf(c)
		for y := range down {
			d.inverse(c, y, row*down+y)
		}
	}
	return nil
}

// takeMCUs takes the blocks of a row of MCUs into the coefficients of its components, from a row of MCUs there on.
func (d *Decoder) takeMCUs(columns, row int) error {
	for column := range columns {
		if err := d.countMCU(); err != nil {
			return err
		}
		for i := range d.scan.all() {
			part := &d.scan.parts[i]
			c := part.component
			across, down := d.scan.blocksOf(c)
			for y := range down {
				for x := range across {
					if d.entropy.spent() {
						return errShort
					}
					at := 64 * ((row*down+y)*c.padded[0] + column*across + x)
					if !d.block(part, (*[64]int16)(c.coefs[at:at+64])) {
						return errCode
					}
				}
			}
		}
	}
	return nil
}

// block takes what a scan holds of a block; false for a code that is in no table.
func (d *Decoder) block(part *scanPart, coefs *[64]int16) bool {
	if d.progressive {
		return d.progressiveBlock(part, coefs)
	}
	difference, ok := d.entropy.block(d.Level, coefs, part.dc, part.ac)
	part.mean += difference
	coefs[0] = int16(part.mean)
	return ok
}

// blocksOf returns the blocks of a component in an MCU. In a scan of one component it is one.
func (s *scan) blocksOf(c *component) (across, down int) {
	if s.components == 1 {
		return 1, 1
	}
	return c.sampling[0], c.sampling[1]
}

// inverse turns a row of blocks in memory into a row of the picture's samples.
func (d *Decoder) inverse(c *component, from, row int) {
	n := c.stride() * 8
	d.Level.InverseDCT(c.plane[row*n:(row+1)*n], c.stride(), c.coefs[from*n:(from+1)*n], &c.factors)
}

// reconstruct turns the coefficients of a progressive picture into samples.
func (d *Decoder) reconstruct() {
	for i := range d.comps() {
		c := &d.comps()[i]
		for row := range c.padded[1] {
			d.inverse(c, row, row)
		}
	}
}
