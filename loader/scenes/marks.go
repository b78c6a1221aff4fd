package scenes

import "math"

// mark paints what shows the verb of an object, under its body.
func (p *painter) mark(o *sceneObject) {
	switch o.verb {
	case wordGlowing:
		p.glow(o)
	case wordFloating:
		p.shadow(o)
	case wordRunning:
		p.speedLines(o)
	case wordSmoking:
		p.smoke(o)
	}
}

// cover calls f with every pixel of the box and its offset from the centre of the object, in pixels.
func (p *painter) cover(o *sceneObject, left, right, top, bottom float64, f func(pixel *colour, dx, dy float64)) {
	row, lastRow := span(o.y+top*o.radius, o.y+bottom*o.radius)
	firstColumn, lastColumn := span(o.x+left*o.radius, o.x+right*o.radius)
	for ; row < lastRow; row++ {
		for column := firstColumn; column < lastColumn; column++ {
			f(&p.canvas[row][column], float64(column)+.5-o.x, float64(row)+.5-o.y)
		}
	}
}

// glow brightens a disc around the object.
func (p *painter) glow(o *sceneObject) {
	square := 1.45 * o.radius * 1.45 * o.radius
	p.cover(o, -1.45, 1.45, -1.45, 1.45, func(pixel *colour, dx, dy float64) {
		if dx*dx+dy*dy < square {
			pixel.blend(.45, glowColour, .55)
		}
	})
}

// shadow darkens a flat ellipse below the object.
func (p *painter) shadow(o *sceneObject) {
	p.cover(o, -1, 1, 1.2, 1.7, func(pixel *colour, dx, dy float64) {
		x, y := dx/o.radius, (dy/o.radius-1.45)/.22
		if x*x+y*y < .8 {
			pixel.blend(.1, shadowColour, 1)
		}
	})
}

// speedLines draws every third row to the left of the object.
func (p *painter) speedLines(o *sceneObject) {
	white := rgb(.9, .9, .9)
	p.cover(o, -1.9, -.9, -.7, .7, func(pixel *colour, dx, dy float64) {
		if -1.9*o.radius < dx && dx < -.9*o.radius && math.Abs(dy) < .7*o.radius && int(math.Floor(dy+100))%3 == 0 {
			*pixel = white
		}
	})
}

// smoke draws three puffs above the object.
func (p *painter) smoke(o *sceneObject) {
	grey := rgb(.5, .5, .5)
	p.cover(o, -.4, .6, -2, -.7, func(pixel *colour, dx, dy float64) {
		u, v := dx/o.radius, dy/o.radius
		for _, puff := range [...]struct{ u, v, square float64 }{{.1, -1.3, .09}, {.35, -1.75, .05}, {-.1, -1.0, .06}} {
			if (u-puff.u)*(u-puff.u)+(v-puff.v)*(v-puff.v) < puff.square {
				*pixel = grey
			}
		}
	})
}

// blend replaces the colour by keep·colour + add·other.
func (c *colour) blend(keep float64, other colour, add float64) {
	k, a := int64(fixed(keep)), int64(fixed(add))
	for i := range c {
		c[i] = int32((int64(c[i])*k + int64(other[i])*a) >> 16)
	}
}
