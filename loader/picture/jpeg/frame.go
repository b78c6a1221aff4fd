package jpeg

import "fmt"

// frame holds the frame header, and the memory of its components.
type frame struct {
	width, height int // pixels
	progressive   bool
	components    int                      // 0 before the frame header
	store         [maxComponents]component // the first of them are in use
	most          [2]int                   // largest sampling factors: columns, rows
	mcus          [2]int                   // MCUs of an interleaved scan: columns, rows
	jfif, adobe   bool
	transform     uint8 // transform in the Adobe segment
}

// component is one plane of the picture.
type component struct {
	id, table uint8  // component and its quantisation table
	sampling  [2]int // factors: columns, rows of blocks in an MCU
	size      [2]int // samples: width, height
	blocks    [2]int // in a scan of this component alone
	padded    [2]int // in memory: whole MCUs, columns even
	seen      bool   // in a scan
	factors   [64]uint16
	coefs     []int16 // the coefficients of all blocks of a progressive picture, of one row of MCUs otherwise
	plane     []uint8 // samples, 8·padded[0] in a row
}

func (f *frame) framed() bool       { return f.components > 0 }
func (f *frame) comps() []component { return f.store[:f.components] }
func (c *component) stride() int    { return 8 * c.padded[0] }

func (f *frame) begin() {
	f.width, f.height, f.components = 0, 0, 0
	f.jfif, f.adobe, f.transform = false, false, 0
}

// define reads a frame header.
func (f *frame) define(body []byte, progressive bool) error {
	if f.framed() {
		return fmt.Errorf("a second frame header")
	}
	if len(body) < 6 || len(body) != 6+3*int(body[5]) {
		return fmt.Errorf("a frame header of %d bytes", len(body))
	}
	n := int(body[5])
	if body[0] != 8 || n != 1 && n != 3 {
		return fmt.Errorf("%w: %d components of %d bits", ErrUnsupported, n, body[0])
	}
	f.height, f.width = int(body[1])<<8|int(body[2]), int(body[3])<<8|int(body[4])
	f.progressive, f.most = progressive, [2]int{}
	for i := range n {
		c, b := &f.store[i], body[6+3*i:]
		c.id, c.table, c.seen = b[0], b[2], false
		c.sampling = [2]int{int(b[1] >> 4), int(b[1] & 15)}
		if n == 1 {
			c.sampling = [2]int{1, 1} // with a single component the blocks are in plain order
		}
		for _, before := range f.store[:i] {
			if before.id == c.id {
				return fmt.Errorf("two components %d", c.id)
			}
		}
		for axis, s := range c.sampling {
			if s < 1 || s > 4 || c.table > 3 {
				return fmt.Errorf("component %d with sampling %v and quantisation %d", c.id, c.sampling, c.table)
			}
			f.most[axis] = max(f.most[axis], s)
		}
	}
	for i := range n {
		for axis, s := range f.store[i].sampling {
			if f.most[axis]%s != 0 || i == 0 && s != f.most[axis] {
				return fmt.Errorf("%w: component %d with sampling %v of %v", ErrUnsupported, i, f.store[i].sampling, f.most)
			}
		}
	}
	f.components = n
	return nil
}

// layOut sizes the planes, once the size is known to be wanted.
func (f *frame) layOut() {
	for axis, pixels := range [2]int{f.width, f.height} {
		f.mcus[axis] = over(pixels, 8*f.most[axis])
		for i := range f.comps() {
			c := &f.store[i]
			c.size[axis] = over(pixels*c.sampling[axis], f.most[axis])
			c.blocks[axis] = over(c.size[axis], 8)
			c.padded[axis] = f.mcus[axis] * c.sampling[axis]
		}
	}
	for i := range f.comps() {
		c := &f.store[i]
		c.padded[0] += c.padded[0] & 1 // blocks are transformed in pairs
		c.plane = sized(c.plane, 64*c.padded[0]*c.padded[1])
		rows := c.sampling[1]
		if f.progressive {
			rows = c.padded[1]
		}
		c.coefs = sized(c.coefs, 64*c.padded[0]*rows)
		clear(c.coefs)
	}
}

// over divides and rounds up.
func over(a, b int) int { return (a + b - 1) / b }

// sized returns n elements of memory, reusing s if it is large enough.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
