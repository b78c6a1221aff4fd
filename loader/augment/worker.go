package augment

import (
	"math"

	"nmn/internal/rng"
	"nmn/loader/picture"
)

// Worker changes pictures. It keeps its memory from one picture to the next, and is for one goroutine.
type Worker struct {
	draws   *Draws
	mean    [3]uint8 // colour outside a picture and in erased rectangles
	noise   [3]table // from random bits to colours around the mean; made when it is first needed
	noisy   bool     // noise is made
	scratch []uint8  // a copy of the picture
	columns []uint16 // sums of columns
	steps   []Step   // steps of RandAugment
	view    view     // the picture, here so that it needs no allocation
}

// NewWorker makes a Worker; mean is the colour that the network sees as 0.
func NewWorker(draws *Draws, mean [3]uint8) *Worker { return &Worker{draws: draws, mean: mean} }

// Place selects the frame of a bag to change, and the epoch.
type Place struct{ Epoch, Bag, Frame int }

// Crop cuts a picture down, in its own memory.
func (w *Worker) Crop(pic *picture.Picture, epoch, bag int) {
	cut(pic, w.draws.Crop(epoch, bag, pic.Width, pic.Height))
}

// cut moves the rows of a part of a picture to its beginning. Rows move towards it alone, so that none is overwritten
// before it was read.
func cut(pic *picture.Picture, r Rect) {
	if r.Width == pic.Width && r.Height == pic.Height {
		return
	}
	for y := range r.Height {
		from := 3 * ((r.Y+y)*pic.Width + r.X)
		copy(pic.Pix[3*y*r.Width:], pic.Pix[from:from+3*r.Width])
	}
	pic.Resize(r.Width, r.Height)
}

// Canvas changes the picture in the top left corner of a canvas of size×size pixels: colour jitter, then RandAugment,
// then random erasing. The rest of the canvas stays.
func (w *Worker) Canvas(canvas []uint8, size, width, height int, at Place) {
	w.view = view{pix: canvas, stride: 3 * size, width: width, height: height}
	v := &w.view
	c := &w.draws.config
	if c.jitters() {
		w.jitter(v, w.draws.Jitter(at.Epoch, at.Bag))
	}
	if c.Rand.Operations > 0 {
		w.steps = w.draws.Steps(w.steps[:0], at.Epoch, at.Bag, width, height)
		for _, s := range w.steps {
			w.apply(v, s)
		}
	}
	if c.Erasing.Probability > 0 {
		if r, ok := w.draws.Erase(at.Epoch, at.Bag, width, height); ok {
			w.erase(v.part(r), at)
		}
	}
}

func (w *Worker) jitter(v *view, j Jitter) {
	for _, i := range j.Order {
		switch factor := j.Factors[i]; {
		case i == 3 && factor != 0:
			hue(v, factor)
		case i == 3 || factor == 1:
		case i == 0:
			brightness(v, factor)
		case i == 1:
			contrast(v, factor)
		case i == 2:
			saturation(v, factor)
		}
	}
}

// apply does an operation of RandAugment.
func (w *Worker) apply(v *view, s Step) { randOperations[s.Op].apply(w, v, s.Strength) }

// erase fills a rectangle with the mean colour or with noise of the frame.
func (w *Worker) erase(v view, at Place) {
	if w.draws.config.Erasing.fill() == FillMean {
		v.fill(w.mean)
		return
	}
	w.makeNoise()
	stream := rng.New(w.draws.noise, at.Epoch, at.Bag, at.Frame)
	for y := range v.height {
		row := v.row(y)
		for i := 0; i+2 < len(row); i += 3 {
			bits := stream.Uint32()
			row[i], row[i+1], row[i+2] = w.noise[0][bits&255], w.noise[1][bits>>8&255], w.noise[2][bits>>16&255]
		}
	}
}

// noiseDeviation is the standard deviation of the noise, equal to that of ImageNet's colours.
const noiseDeviation = .226 * 255

// makeNoise fills the tables with the 256 quantiles of the normal distribution around the mean colour.
func (w *Worker) makeNoise() {
	if w.noisy {
		return
	}
	for i := range w.noise[0] {
		quantile := math.Sqrt2 * math.Erfinv(2*(float64(i)+.5)/256-1)
		for c, mean := range w.mean {
			w.noise[c][i] = clip(int(math.Round(float64(mean) + noiseDeviation*quantile)))
		}
	}
	w.noisy = true
}
