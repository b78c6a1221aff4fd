package scenes

import "math"

// seen reports whether an object counts as visible: 12 pixels of its body at least, and a quarter of its
// pixels on the canvas.
func (o *sceneObject) seen() bool { return o.visible >= 12 && 4*o.visible >= o.pixels }

// seenObjects lists the objects that count, in painting order, in the front of indices.
func (s *scene) seenObjects() (indices [maxObjects]int, count int) {
	for i := range s.count {
		if s.objects[i].seen() {
			indices[count] = i
			count++
		}
	}
	return indices, count
}

// relation names the relation of object i to object j, or noWord. Being hidden takes precedence over being
// higher, which takes precedence over being adjacent.
func (s *scene) relation(i, j int) int32 {
	a, b := &s.objects[i], &s.objects[j]
	dx, dy := a.x-b.x, a.y-b.y
	switch {
	case j > i && float64(a.visible) < .85*float64(a.pixels) && math.Hypot(dx, dy) < a.radius+b.radius:
		return wordBehind
	case dy < -10 && math.Abs(dx) < 6:
		return wordAbove
	case math.Abs(dy) < 6 && 10 <= math.Abs(dx) && math.Abs(dx) < 26:
		return wordBeside
	}
	return noWord
}

// company returns alone, together, or neither for the visible objects.
func (s *scene) company() int32 {
	indices, count := s.seenObjects()
	if count == 1 {
		return wordAlone
	}
	for n, i := range indices[:count] {
		for _, j := range indices[:n] {
			if math.Hypot(s.objects[i].x-s.objects[j].x, s.objects[i].y-s.objects[j].y) >= 24 {
				return noWord
			}
		}
	}
	if count == 0 {
		return noWord
	}
	return wordTogether
}

// quantity returns two, many, or neither for the visible objects.
func (s *scene) quantity() int32 {
	switch _, count := s.seenObjects(); {
	case count == 2:
		return wordTwo
	case count > 2:
		return wordMany
	}
	return noWord
}

// truth sets the true labels y of the scene in a row of zeros.
func (s *scene) truth(y []uint8) {
	set := func(word int32) {
		if word != noWord {
			y[word] = 1
		}
	}
	set(s.place)
	set(s.quantity())
	set(s.company())
	indices, count := s.seenObjects()
	for _, i := range indices[:count] {
		object := &s.objects[i]
		for _, word := range [...]int32{object.shape, object.colour, object.texture, object.size, object.verb} {
			set(word)
		}
		for _, j := range indices[:count] {
			if i != j {
				set(s.relation(i, j))
			}
		}
	}
}
