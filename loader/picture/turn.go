package picture

// turns maps the orientations from 1 on to the position of a displayed picture in the stored one: whether
// rows are columns there, and whether x and y, before they are swapped, count from the other end.
var turns = [8]struct{ transposed, fromRight, fromBottom bool }{
	{},
	{fromRight: true},
	{fromRight: true, fromBottom: true},
	{fromBottom: true},
	{transposed: true},
	{transposed: true, fromBottom: true},
	{transposed: true, fromRight: true, fromBottom: true},
	{transposed: true, fromRight: true},
}

// turn puts the pixels of a picture, stored in an orientation, upright.
func (p *Picture) turn(orientation int) {
	if orientation == 1 {
		return
	}
	how := turns[orientation-1]
	width, height := p.Width, p.Height
	start, alongX, alongY := 0, 1, width // in pixels: the first one, and to the next in what is stored
	if how.fromRight {
		start, alongX = start+width-1, -1
	}
	if how.fromBottom {
		start, alongY = start+width*(height-1), -width
	}
	if how.transposed {
		width, height, alongX, alongY = height, width, alongY, alongX
	}
	if cap(p.turned) < len(p.Pix) {
		p.turned = make([]uint8, len(p.Pix))
	}
	to := p.turned[:len(p.Pix)]
	const block = 32 // pixels: a block stays in the first cache, however far apart rows are
	for top := 0; top < height; top += block {
		for left := 0; left < width; left += block {
			right := min(left+block, width)
			for y := top; y < min(top+block, height); y++ {
				from := 3 * (start + alongX*left + alongY*y)
				for at := 3 * (y*width + left); at < 3*(y*width+right); at += 3 {
					to[at], to[at+1], to[at+2] = p.Pix[from], p.Pix[from+1], p.Pix[from+2]
					from += 3 * alongX
				}
			}
		}
	}
	p.Pix, p.turned = to, p.Pix
	p.Width, p.Height = width, height
}
