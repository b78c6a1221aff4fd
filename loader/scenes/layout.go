package scenes

import (
	"math"
	"math/bits"
	"slices"

	"nmn/internal/rng"
)

const maxObjects = 4

// scene is the content of a picture: a place and one to four objects, later ones in front.
type scene struct {
	place      int32 // class of the background, wordGrass to wordNight
	objects    [maxObjects]sceneObject
	count      int
	phase      float64 // phase of the waves, radians
	brightness float64 // factor on the whole picture
}

// sceneObject is one shape. Attributes are classes, or noWord. Lengths are pixels, y points down.
type sceneObject struct {
	shape, colour, texture, size, verb int32
	x, y, radius                       float64
	sin, cos                           float64 // of the tilt angle

	body    silhouette // pixels of the canvas that the shape covers
	pixels  int        // how many they are
	visible int        // those that no later body covers
}

// silhouette is a set of pixels: bit c of row r stands for column c.
type silhouette [pictureSize]uint64

func (m *silhouette) count() (n int) {
	for _, row := range m {
		n += bits.OnesCount64(row)
	}
	return n
}

// The distributions of the generator. Weights need not sum to one.
var (
	objectCountWeights = [maxObjects]float64{.30, .40, .20, .10}
	placeWeights       = [placeCount]float64{.25, .22, .20, .17, .16}
	textureWeights     = [3]float64{.6, .2, .2}
	sizeWeights        = [3]float64{.30, .45, .25}
	shapeWeights       = harmonic(5)
	hueWeights         = harmonic(4)

	textures   = [3]int32{noWord, wordStriped, wordDotted}
	sizes      = [3]int32{wordSmall, noWord, wordLarge}
	radiusFrom = [3]float64{4.8, 6.8, 10}
	radiusTo   = [3]float64{5.6, 8.4, 12.5}
	// lowContrast lists, per place, the colours that would hardly show there.
	lowContrast = [placeCount][]int32{{wordGreen}, {wordBlue, wordWhite}, {wordYellow, wordOrange}, {wordBlue},
		{wordBlack}}
	// typicalColour is the usual colour of a shape, which annotators then do not mention.
	typicalColour = [shapeCount]int32{
		wordBall: wordRed, wordBox: noWord, wordTent: wordGreen, wordStar: wordYellow,
		wordCross: noWord, wordRing: wordWhite, wordHeart: wordRed, wordFish: wordOrange,
	}
)

// harmonic gives index i the weight 1/(i+offset).
func harmonic(offset float64) (weights [8]float64) {
	for i := range weights {
		weights[i] = 1 / (float64(i) + offset)
	}
	return weights
}

// onGrid rounds to a multiple of 2^-16. Drawn values are put on this grid, so that differences of positions
// are exact. Then a processor that fuses multiplications and additions, or another version of a
// transcendental function, gives the same picture.
func onGrid(x float64) float64 { return math.Floor(x*65536+.5) / 65536 }

// drawScene draws the content of a picture and computes which pixels of each object are visible.
func drawScene(s *rng.Stream) scene {
	scene := layOut(s)
	scene.reveal()
	return scene
}

// layOut draws the layout of a picture.
func layOut(s *rng.Stream) scene {
	scene := scene{count: 1 + s.Choice(objectCountWeights[:])}
	scene.place = wordGrass + int32(s.Choice(placeWeights[:]))
	cells := [9]int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	s.Shuffle(cells[:])
	for i := range scene.count {
		object := &scene.objects[i]
		object.dress(s, scene.place)
		object.put(s, cells[i])
	}
	scene.phase = onGrid(s.Uniform(0, 2*math.Pi))
	scene.brightness = onGrid(s.Uniform(.8, 1.15))
	return scene
}

// reveal works out which pixels of each object can be seen.
func (s *scene) reveal() {
	for i := range s.count {
		object := &s.objects[i]
		object.body = object.outline()
		object.pixels = object.body.count()
	}
	s.occlude()
}

// dress draws shape, colour and texture of an object that stands at a place.
func (o *sceneObject) dress(s *rng.Stream, place int32) {
	o.shape = int32(s.Choice(shapeWeights[:]))
	forbidden := lowContrast[place-wordGrass]
	weights := hueWeights
	for _, colour := range forbidden {
		weights[colour-wordRed] = 0
	}
	o.colour = wordRed + int32(s.Choice(weights[:]))
	typicalColoured := s.Float64() < .35
	if typical := typicalColour[o.shape]; typicalColoured && typical != noWord && !slices.Contains(forbidden, typical) {
		o.colour = typical
	}
	o.texture = textures[s.Choice(textureWeights[:])]
}

// put draws size, verb, place in one of the 3×3 cells, and tilt.
func (o *sceneObject) put(s *rng.Stream, cell int) {
	size := s.Choice(sizeWeights[:])
	o.size = sizes[size]
	o.radius = onGrid(s.Uniform(radiusFrom[size], radiusTo[size]))
	o.verb = noWord
	if s.Float64() < .55 {
		o.verb = wordGlowing + int32(s.Intn(verbCount))
	}
	const cellSize = pictureSize / 3
	near, far := .8*o.radius, pictureSize-.8*o.radius
	o.x = onGrid(min(max(cellSize*(float64(cell%3)+.5)+s.Uniform(-5, 5), near), far))
	o.y = onGrid(min(max(cellSize*(float64(cell/3)+.5)+s.Uniform(-5, 5), near), far))
	o.sin, o.cos = math.Sincos(s.Uniform(-.26, .26))
	o.dropVerb()
}

// dropVerb drops a verb whose mark would leave the canvas.
func (o *sceneObject) dropVerb() {
	if o.verb == wordFloating && o.y+1.55*o.radius > pictureSize-1 || o.verb == wordRunning && o.x-1.6*o.radius < 0 ||
		o.verb == wordSmoking && o.y-1.6*o.radius < 0 {
		o.verb = noWord
	}
}

// occlude counts the pixels of every body that no later body covers.
func (s *scene) occlude() {
	var covered silhouette
	for i := s.count - 1; i >= 0; i-- {
		object := &s.objects[i]
		for row, body := range object.body {
			object.visible += bits.OnesCount64(body &^ covered[row])
			covered[row] |= body
		}
	}
}
