package scenes

import "math"

// outline finds the pixels whose centres lie inside the shape.
func (o *sceneObject) outline() (body silhouette) {
	const reach = 1.25 // no shape reaches further from its centre along an axis, in radii
	top, bottom := span(o.y-reach*o.radius, o.y+reach*o.radius)
	left, right := span(o.x-reach*o.radius, o.x+reach*o.radius)
	sin, cos := o.sin/o.radius, o.cos/o.radius
	for row := top; row < bottom; row++ {
		dy := float64(row) + .5 - o.y
		for column := left; column < right; column++ {
			dx := float64(column) + .5 - o.x
			if insideShape(o.shape, dx*cos+dy*sin, dy*cos-dx*sin) {
				body[row] |= 1 << column
			}
		}
	}
	return body
}

// span returns the range of pixels [from, to) of the canvas that touch the interval.
func span(low, high float64) (from, to int) {
	return max(0, int(math.Floor(low))), min(pictureSize, int(math.Floor(high))+1)
}

// insideShape reports whether a point, in radii from the centre and with v pointing down, belongs to the
// upright shape.
func insideShape(shape int32, u, v float64) bool {
	switch shape {
	case wordBall:
		return u*u+v*v < .92*.92
	case wordBox:
		return math.Abs(u) < .82 && math.Abs(v) < .82
	case wordTent:
		return -.95 < v && v < .8 && math.Abs(u) < .55*(v+.95)
	case wordStar:
		return insideStar(u, v)
	case wordCross:
		return math.Abs(u) < .3 && math.Abs(v) < .95 || math.Abs(v) < .3 && math.Abs(u) < .95
	case wordRing:
		r := u*u + v*v
		return .25 < r && r < 1
	case wordHeart:
		x, y := 1.2*u, .1-1.2*v
		f := x*x + y*y - 1
		return f*f*f < x*x*y*y*y
	default: // fish: a body and a tail
		x, y := (u-.2)/.78, v/.52
		return x*x+y*y < 1 || -1 < u && u < -.4 && math.Abs(v) < .95*(-u-.3)
	}
}

// insideStar is the five-pointed star whose radius falls from 1.05 at the tips to .38 between them.
func insideStar(u, v float64) bool {
	const inner, outer = .38, .38 + .67
	square := u*u + v*v
	if square < inner*inner {
		return true
	}
	if square >= outer*outer {
		return false
	}
	turn := math.Atan2(u, -v) / (2 * math.Pi / 5)
	tip := 2 * math.Abs(turn-math.Floor(turn)-.5)
	return math.Sqrt(square) < inner+.67*math.Pow(tip, 1.6)
}
