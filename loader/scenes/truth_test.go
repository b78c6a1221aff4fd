package scenes

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"nmn/internal/rng"
	"nmn/loader"
)

// placed is an upright plain object.
func placed(shape, colour int32, x, y, radius float64) sceneObject {
	o := sceneObject{shape: shape, colour: colour, texture: noWord, size: noWord, verb: noWord, x: x, y: y,
		radius: radius, cos: 1}
	o.body = o.outline()
	o.pixels = o.body.count()
	return o
}

func sceneOf(objects ...sceneObject) scene {
	s := scene{place: wordSand, count: len(objects)}
	copy(s.objects[:], objects)
	s.occlude()
	return s
}

func TestTruth_OfKnownScenes(t *testing.T) {
	ball := func(x, y, r float64) sceneObject { return placed(wordBall, wordRed, x, y, r) }
	box := func(x, y, r float64) sceneObject { return placed(wordBox, wordBlue, x, y, r) }
	small := ball(24, 24, 5)
	small.size, small.texture, small.verb = wordSmall, wordStriped, wordGlowing
	cases := map[string]struct {
		scene scene
		want  []int32
	}{
		"one with attributes": {sceneOf(small), []int32{wordBall, wordRed, wordSmall, wordStriped, wordGlowing, wordAlone}},
		"beside": {sceneOf(ball(12, 24, 5), box(28, 26, 5)),
			[]int32{wordBall, wordRed, wordBox, wordBlue, wordBeside, wordTwo, wordTogether}},
		"too far to be together": {sceneOf(ball(10, 24, 5), box(35, 26, 5)),
			[]int32{wordBall, wordRed, wordBox, wordBlue, wordBeside, wordTwo}},
		"too far to be beside": {sceneOf(ball(8, 24, 5), box(38, 26, 5)),
			[]int32{wordBall, wordRed, wordBox, wordBlue, wordTwo}},
		"above": {sceneOf(ball(24, 10, 5), box(25, 30, 5)),
			[]int32{wordBall, wordRed, wordBox, wordBlue, wordAbove, wordTwo, wordTogether}},
		"hardly above": {sceneOf(ball(24, 10, 4), box(24, 20, 4)),
			[]int32{wordBall, wordRed, wordBox, wordBlue, wordTwo, wordTogether}},
		"behind, not beside": {sceneOf(ball(20, 24, 10), box(30, 24, 10)),
			[]int32{wordBall, wordRed, wordBox, wordBlue, wordBehind, wordTwo, wordTogether, wordBeside}},
		"covered": {sceneOf(ball(24, 24, 5), box(24, 24, 10)), []int32{wordBox, wordBlue, wordAlone}},
		"three": {sceneOf(ball(8, 8, 5), box(40, 8, 5), ball(8, 40, 5)),
			[]int32{wordBall, wordRed, wordBox, wordBlue, wordAbove, wordMany}},
	}
	for name, c := range cases {
		y := make([]uint8, classCount)
		c.scene.truth(y)
		for k, v := range y {
			word := int32(k)
			if want := word == wordSand || slices.Contains(c.want, word); (v == 1) != want {
				t.Errorf("%s: %q is %d", name, sceneWords[k], v)
			}
		}
	}
	// For one ordered pair only the first relation counts; the reversed pair has its own.
	s := sceneOf(ball(20, 24, 10), box(30, 24, 10))
	if a, b := s.relation(0, 1), s.relation(1, 0); a != wordBehind || b != wordBeside {
		t.Errorf("relations %d and %d, want behind and beside", a, b)
	}
}

func TestTruth_AreasOfShapes(t *testing.T) {
	const r = 12.0
	for shape, want := range map[int32]float64{
		wordBall:  math.Pi * .92 * .92,
		wordBox:   1.64 * 1.64,
		wordTent:  .55 * 1.75 * 1.75,
		wordCross: 2*.6*1.9 - .6*.6,
		wordRing:  math.Pi * .75,
	} {
		object := placed(shape, wordRed, 24.3, 23.8, r)
		if got := float64(object.pixels) / (r * r); math.Abs(got-want) > .05*want {
			t.Errorf("%s covers %.3f R², want %.3f", sceneWords[shape], got, want)
		}
	}
	// Every shape lies within the box that outline looks at, at any tilt.
	for shape := wordBall; shape <= wordFish; shape++ {
		for u := -1.6; u < 1.6; u += .01 {
			for v := -1.6; v < 1.6; v += .01 {
				sin, cos := math.Sincos(.26)
				reach := math.Max(math.Abs(u*cos)+math.Abs(v*sin), math.Abs(v*cos)+math.Abs(u*sin))
				if insideShape(shape, u, v) && reach > 1.25 {
					t.Fatalf("%s reaches (%.2f, %.2f)", sceneWords[shape], u, v)
				}
			}
		}
	}
}

func TestTruth_VisiblePixelsEqualBruteForce(t *testing.T) {
	for i := range 200 {
		stream := rng.New(9, i)
		s := drawScene(&stream)
		var visible [maxObjects]int
		for row := range pictureSize {
			for column := range pictureSize {
				top := -1
				for n := range s.count {
					o := &s.objects[n]
					dx, dy := float64(column)+.5-o.x, float64(row)+.5-o.y
					if insideShape(o.shape, (dx*o.cos+dy*o.sin)/o.radius, (dy*o.cos-dx*o.sin)/o.radius) {
						top = n
					}
				}
				if top >= 0 {
					visible[top]++
				}
			}
		}
		for n := range s.count {
			if got := s.objects[n].visible; got != visible[n] {
				t.Fatalf("scene %d, object %d: %d visible pixels, want %d", i, n, got, visible[n])
			}
		}
	}
}

func TestTruth_DrawsKeepTheirBounds(t *testing.T) {
	for i := range 2000 {
		stream := rng.New(11, i)
		s := drawScene(&stream)
		for n := range s.count {
			o := &s.objects[n]
			if slices.Contains(lowContrast[s.place-wordGrass], o.colour) {
				t.Fatalf("%s on %s", sceneWords[o.colour], sceneWords[s.place])
			}
			if least := .8*o.radius - 1e-4; min(o.x, o.y, pictureSize-o.x, pictureSize-o.y) < least {
				t.Fatalf("centre (%v, %v) of radius %v leaves the canvas", o.x, o.y, o.radius)
			}
			if o.verb == wordSmoking && o.y < 1.6*o.radius || o.verb == wordRunning && o.x < 1.6*o.radius ||
				o.verb == wordFloating && o.y+1.55*o.radius > 47 {
				t.Fatalf("the mark of %q leaves the canvas", sceneWords[o.verb])
			}
		}
	}
}

// The labels of scenes are what their captions say.
func TestMake_LabelsComeFromCaptions(t *testing.T) {
	for _, s := range []*loader.Set{makeScenes(t, 3, "train", 50),
		makeMoving(t, MovingConfig{Seed: 3, N: 10, Split: "train", Frames: 4})} {
		if len(s.CaptionsInUse) != s.Len() {
			t.Errorf("%s: captions of %d bags, want %d", s.Name, len(s.CaptionsInUse), s.Len())
			continue
		}
		if z, _ := loader.CaptionMatrices(s.CaptionsInUse, s.Vocabulary.Len()); !bytes.Equal(z.Uint8s(), s.Labels.Uint8s()) {
			t.Errorf("%s: captions say other words than the labels", s.Name)
		}
	}
}
