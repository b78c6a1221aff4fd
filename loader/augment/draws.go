package augment

import (
	"cmp"
	"math"

	"nmn/internal/rng"
)

// Draws draws what happens to each bag in each epoch. It is safe for concurrent use.
type Draws struct {
	config                                           Config
	crop, jitter, rand, erase, noise, mixup, pairing uint64 // seeds
}

// NewDraws makes the draws of a seed. The configuration must be valid.
func NewDraws(config Config, seed uint64) *Draws {
	of := func(purpose string) uint64 { return rng.Derive(seed, "loader/augment/"+purpose) }
	return &Draws{config: config, crop: of("crop"), jitter: of("jitter"), rand: of("rand"), erase: of("erase"),
		noise: of("noise"), mixup: of("mixup"), pairing: of("pairing")}
}

// Rect is a part of a picture, in pixels.
type Rect struct{ X, Y, Width, Height int }

// attempts are how often a rectangle is drawn that may turn out not to fit.
const attempts = 10

// Crop draws the visible part of a picture: area, logarithm of the ratio and position are uniform. If none of
// ten rectangles fits into the picture, the crop is the largest one in the middle whose ratio is allowed, as
// in torchvision's RandomResizedCrop.
func (d *Draws) Crop(epoch, bag, width, height int) Rect {
	if !d.config.crops() {
		return Rect{X: 0, Y: 0, Width: width, Height: height}
	}
	stream := rng.New(d.crop, epoch, bag)
	ratio := cmp.Or(d.config.Crop.Ratio, cropRatio)
	for range attempts {
		w, h := sides(&stream, width, height, d.config.Crop.Area, ratio)
		if w > 0 && w <= width && h > 0 && h <= height {
			return Rect{X: stream.Intn(width - w + 1), Y: stream.Intn(height - h + 1), Width: w, Height: h}
		}
	}
	return middle(width, height, ratio)
}

// sides draws two sides of a rectangle: it has a share of the area of a picture, and a/b lies in ratio.
func sides(stream *rng.Stream, width, height int, share, ratio Range) (a, b int) {
	area := float64(width) * float64(height) * stream.Uniform(share[0], share[1])
	r := math.Exp(stream.Uniform(math.Log(ratio[0]), math.Log(ratio[1])))
	return round(math.Sqrt(area * r)), round(math.Sqrt(area / r))
}

// middle is the largest rectangle in the middle of a picture with an allowed ratio.
func middle(width, height int, ratio Range) Rect {
	w, h := width, height
	switch whole := float64(width) / float64(height); {
	case whole < ratio[0]:
		h = min(height, max(1, round(float64(w)/ratio[0])))
	case whole > ratio[1]:
		w = min(width, max(1, round(float64(h)*ratio[1])))
	}
	return Rect{X: (width - w) / 2, Y: (height - h) / 2, Width: w, Height: h}
}

// round is Python's: halves go to the even number.
func round(v float64) int { return int(math.RoundToEven(v)) }

// Jitter is a change of colours: the factors of brightness, contrast and saturation, and the shift of the hue, in the
// order in which they are applied.
type Jitter struct {
	Order   [4]int     // indices of Factors
	Factors [4]float64 // 1, 1, 1 and 0 change nothing
}

// Jitter draws the change of colours of a bag.
func (d *Draws) Jitter(epoch, bag int) Jitter {
	c, stream := &d.config.Jitter, rng.New(d.jitter, epoch, bag)
	j := Jitter{Order: [4]int{0, 1, 2, 3}}
	stream.Shuffle(j.Order[:])
	for i, strength := range [3]float64{c.Brightness, c.Contrast, c.Saturation} {
		j.Factors[i] = stream.Uniform(max(0, 1-strength), 1+strength)
	}
	j.Factors[3] = stream.Uniform(-c.Hue, c.Hue)
	return j
}

// Step is an operation of RandAugment with its strength, in the unit of the operation; see randOperations.
type Step struct {
	Op       Op
	Strength float64
}

// Steps appends the operations of RandAugment for a bag whose picture takes width×height pixels to dst.
func (d *Draws) Steps(dst []Step, epoch, bag, width, height int) []Step {
	stream := rng.New(d.rand, epoch, bag)
	for range d.config.Rand.Operations {
		op, negative := Op(stream.Intn(len(randOperations))), stream.Uint32()>>31 == 1
		dst = append(dst, Step{op, op.strength(d.config.Rand.Magnitude, negative, width, height)})
	}
	return dst
}

// Erase draws the rectangle that a bag loses, and whether it loses one. If none of ten attempts fits, nothing
// is erased, as in torchvision's RandomErasing.
func (d *Draws) Erase(epoch, bag, width, height int) (Rect, bool) {
	c, stream := &d.config.Erasing, rng.New(d.erase, epoch, bag)
	if stream.Float64() >= c.Probability {
		return Rect{}, false
	}
	share, ratio := cmp.Or(c.Area, erasingArea), cmp.Or(c.Ratio, erasingRatio)
	for range attempts {
		h, w := sides(&stream, width, height, share, ratio)
		if w > 0 && w < width && h > 0 && h < height {
			return Rect{X: stream.Intn(width - w + 1), Y: stream.Intn(height - h + 1), Width: w, Height: h}, true
		}
	}
	return Rect{}, false
}

// Wholes are the parts of a bag: weights of mixup are counted in Wholes-ths.
const Wholes = 256

// Weight draws how much of a bag remains in its mixture, of Wholes: λ from Beta(α, α), rounded.
func (d *Draws) Weight(epoch, bag int) int {
	stream := rng.New(d.mixup, epoch, bag)
	return int(math.Round(Wholes * beta(&stream, d.config.Mixup)))
}

// Pairs groups the bags 0 to len(partners)-1 of a batch into random pairs: partners[i] is the bag that i is
// mixed with. For an odd number, one bag is its own partner. order is memory of equal length.
func (d *Draws) Pairs(partners, order []int, epoch, batch int) {
	stream := rng.New(d.pairing, epoch, batch)
	for i := range order {
		order[i] = i
	}
	stream.Shuffle(order)
	for i := 0; i+1 < len(order); i += 2 {
		partners[order[i]], partners[order[i+1]] = order[i+1], order[i]
	}
	if last := len(order) - 1; last%2 == 0 && last >= 0 {
		partners[order[last]] = order[last]
	}
}

// beta draws from Beta(α, α): G/(G+H) of two gamma variates, in logarithms, because variates of a small α
// underflow.
func beta(stream *rng.Stream, alpha float64) float64 {
	g, h := logGamma(stream, alpha), logGamma(stream, alpha)
	return 1 / (1 + math.Exp(h-g))
}

// logGamma is the logarithm of a draw from Gamma(α, 1) (Marsaglia and Tsang, "A simple method for generating gamma
// variables", 2000): one from Gamma(α+1, 1), times U^(1/α).
func logGamma(stream *rng.Stream, alpha float64) float64 {
	d := alpha + 1 - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := stream.Normal(0, 1)
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		u := 1 - stream.Float64()
		if math.Log(u) < .5*x*x+d-d*v+d*math.Log(v) {
			return math.Log(d*v) + math.Log(1-stream.Float64())/alpha
		}
	}
}
