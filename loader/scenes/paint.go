package scenes

import (
	"math"

	"nmn/internal/rng"
)

// Colours are RGB in fixed point with 16 fractional bits, so that a picture is the same on every
// processor.
type colour [3]int32

func fixed(x float64) int32 { return int32(math.Round(x * 65536)) }

func rgb(r, g, b float64) colour { return colour{fixed(r), fixed(g), fixed(b)} }

var (
	paints    [hueCount]colour // paints of the objects, in class order
	alternate [hueCount]colour // their darker or lighter shade, for stripes and dots

	grassColour, sandColour  = rgb(.28, .50, .20), rgb(.82, .70, .45)
	waterColour, nightColour = rgb(.15, .38, .55), rgb(.07, .07, .14)
	skyTop, skyBottom        = rgb(.45, .68, .95), rgb(.75, .87, .97)
	glowColour, shadowColour = rgb(1, 1, .7), rgb(.02, .02, .05)

	// normalTable holds the quantiles (i+½)/4096 of the standard normal distribution.
	normalTable [4096]int32
	// cameraNoise is normalTable at a deviation of .03.
	cameraNoise [4096]int32
)

func init() {
	for i, c := range [hueCount][3]float64{
		{.85, .12, .12}, {.15, .65, .20}, {.15, .25, .85}, {.93, .85, .15},
		{.95, .95, .95}, {.07, .07, .07}, {.55, .15, .65}, {.95, .50, .10},
	} {
		paints[i] = rgb(c[0], c[1], c[2])
		factor, lift := .4, .5
		if c[0]+c[1]+c[2] > 1.5 {
			factor, lift = .45, 0
		}
		alternate[i] = rgb(float64(c[0]*factor)+lift, float64(c[1]*factor)+lift, float64(c[2]*factor)+lift)
	}
	for i := range normalTable {
		normalTable[i] = fixed(math.Sqrt2 * math.Erfinv((float64(i)+.5)/2048-1))
		cameraNoise[i] = (normalTable[i] * fixed(.03)) >> 16
	}
}

// normal turns 16 random bits into a normally distributed number with the given deviation, both in
// fixed point.
func normal(bits uint64, deviation int32) int32 {
	return (normalTable[uint16(bits)>>4] * deviation) >> 16
}

// painter holds the canvas of one picture while it is painted. Not safe for concurrent use.
type painter struct {
	canvas [pictureSize][pictureSize]colour
	// noise holds 64 random bits per pixel: 16 for each channel and 16 for the background.
	noise [pictureSize][pictureSize]uint64
}

// paint draws a still picture of the scene, whose noise comes from one stream.
func (p *painter) paint(scene *scene, stream *rng.Stream, pixels *[pictureBytes]uint8) {
	for row := range p.noise {
		for column := range p.noise[row] {
			p.noise[row][column] = stream.Uint64()
		}
	}
	p.draw(scene, pixels)
}

// paintFrame draws a frame of a clip: the background belongs to the clip, the camera's noise to the frame.
func (p *painter) paintFrame(scene *scene, ground, camera *rng.Stream, pixels *[pictureBytes]uint8) {
	const cameraBits = 1<<48 - 1
	for row := range p.noise {
		for column := range p.noise[row] {
			p.noise[row][column] = ground.Uint64()&^cameraBits | camera.Uint64()&cameraBits
		}
	}
	p.draw(scene, pixels)
}

// draw draws the scene: background, objects from back to front, light, pixel noise.
func (p *painter) draw(scene *scene, pixels *[pictureBytes]uint8) {
	p.background(scene)
	light := int32(65536)
	if scene.place == wordNight {
		light = fixed(.6)
	}
	for i := range scene.count {
		p.mark(&scene.objects[i])
		p.object(&scene.objects[i], light)
	}
	p.develop(scene.brightness, pixels)
}

func (p *painter) background(scene *scene) {
	switch scene.place {
	case wordGrass:
		p.grass()
	case wordSky:
		p.sky()
	case wordSand:
		p.sand()
	case wordWater:
		p.water(scene.phase)
	default:
		p.night()
	}
}

// grass paints blades of 4×1 pixels.
func (p *painter) grass() {
	deviation := fixed(.09)
	for row := range p.canvas {
		for column := range p.canvas[row] {
			t := normal(p.noise[row&^3][column]>>48, deviation)
			p.canvas[row][column] = colour{grassColour[0] + int32(int64(t)*7/10), grassColour[1] + t, grassColour[2] + t/2}
		}
	}
}

// sky paints a vertical gradient.
func (p *painter) sky() {
	for row := range p.canvas {
		var shade colour
		for c := range shade {
			shade[c] = skyTop[c] + (skyBottom[c]-skyTop[c])*int32(row)/(pictureSize-1)
		}
		for column := range p.canvas[row] {
			p.canvas[row][column] = shade
		}
	}
}

// sand paints grey grain.
func (p *painter) sand() {
	deviation := fixed(.08)
	for row := range p.canvas {
		for column := range p.canvas[row] {
			grain := normal(p.noise[row][column]>>48, deviation)
			p.canvas[row][column] = colour{sandColour[0] + grain, sandColour[1] + grain, sandColour[2] + grain}
		}
	}
}

// water paints waves, .1·sin(1.3 row + φ + .6 sin(.35 column + φ)), by the addition theorem.
func (p *painter) water(phase float64) {
	var sin, cos [pictureSize]float64
	for column := range sin {
		sin[column], cos[column] = math.Sincos(phase + .6*math.Sin(.35*float64(column)+phase))
	}
	for row := range p.canvas {
		rowSin, rowCos := math.Sincos(1.3 * float64(row))
		for column := range p.canvas[row] {
			wave := int32(math.Floor(6553.6*(rowSin*cos[column]+rowCos*sin[column]) + .5))
			p.canvas[row][column] = colour{waterColour[0] + wave, waterColour[1] + wave, waterColour[2] + wave}
		}
	}
}

// night paints stars on a dark sky, one for 125 pixels.
func (p *painter) night() {
	const starRate, starlight = 524, 39322 // in units of 1/65536: .008 and .6
	for row := range p.canvas {
		for column := range p.canvas[row] {
			shade := nightColour
			if p.noise[row][column]>>48 < starRate {
				shade[0], shade[1], shade[2] = shade[0]+starlight, shade[1]+starlight, shade[2]+starlight
			}
			p.canvas[row][column] = shade
		}
	}
}

// object paints the body.
func (p *painter) object(o *sceneObject, light int32) {
	paint, other := paints[o.colour-wordRed], alternate[o.colour-wordRed]
	for c := range paint {
		paint[c] = int32(int64(paint[c]) * int64(light) >> 16)
		other[c] = int32(int64(other[c]) * int64(light) >> 16)
	}
	for row, body := range o.body {
		for column := 0; body>>column != 0; column++ {
			if body>>column&1 == 0 {
				continue
			}
			if o.texture != noWord && o.patterned(float64(column)+.5-o.x, float64(row)+.5-o.y) {
				p.canvas[row][column] = other
			} else {
				p.canvas[row][column] = paint
			}
		}
	}
}

// patterned reports whether the texture shows the alternate shade at an offset from the centre.
func (o *sceneObject) patterned(dx, dy float64) bool {
	if o.texture == wordStriped {
		return int(math.Floor(dx+dy+200))%4 < 2
	}
	return int(math.Floor(dx+200))%4 < 2 && int(math.Floor(dy+200))%4 < 2
}

// develop applies the light of the picture and the noise of the camera, and rounds to 8 bits.
func (p *painter) develop(brightness float64, pixels *[pictureBytes]uint8) {
	factor := int64(fixed(brightness))
	at := 0
	for row := range p.canvas {
		for column := range p.canvas[row] {
			noise, c := p.noise[row][column], &p.canvas[row][column]
			pixel := pixels[at : at+3 : at+3]
			pixel[0] = expose(c[0], factor, cameraNoise[uint16(noise)>>4])
			pixel[1] = expose(c[1], factor, cameraNoise[uint16(noise>>16)>>4])
			pixel[2] = expose(c[2], factor, cameraNoise[uint16(noise>>32)>>4])
			at += 3
		}
	}
}

// expose turns a level in fixed point into 8 bits.
func expose(level int32, factor int64, noise int32) uint8 {
	return uint8((min(max(int64(level)*factor>>16+int64(noise), 0), 65536)*255 + 32768) >> 16)
}
