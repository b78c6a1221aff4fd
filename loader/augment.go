package loader

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"nmn/loader/augment"
	"nmn/loader/picture"
)

// checkAugment refuses augmentations that the set, its targets or its evidence do not allow.
func checkAugment(set *Set, config *Config) error {
	switch {
	case set.Vectors != nil && config.Augment.Pictures():
		return fmt.Errorf("loader: the set %q has features: of `train.augment` they can have `train.augment.mixup` alone",
			set.Name)
	case config.Evidence != nil && config.Augment.Mixup > 0:
		return errors.New("loader: `train.augment.mixup` mixes labels, and evidence takes their place: leave out one")
	case set.Weights != nil && config.Augment.Mixup > 0:
		return errors.New("loader: `train.augment.mixup` mixes rows, and each has a weight of its own: leave out weights " +
			"or `train.augment.mixup`")
	}
	return nil
}

// crop cuts a picture down and returns how the rest is fitted onto the canvas: a picture that already has the
// canvas's size is stretched to it again.
func (w *worker) crop(pic *picture.Picture, fit picture.Fit, size, epoch, bag int) picture.Fit {
	if fit == picture.FitNone {
		if pic.Width != size || pic.Height != size {
			return fit // which refuses it
		}
		fit = picture.FitSquare
	}
	w.augment.Crop(pic, epoch, bag)
	return fit
}

// mixing is what mixup needs of a batch. It keeps its memory from one batch to the next.
type mixing struct {
	bags         []mixedBag // usable bags, in order; none if nothing is mixed
	places       []int      // index of each bag to be read among bags; -1 if it cannot be used
	partners     []int      // partner of each bag
	pixels, line []uint8    // copies of the frames of a bag, and of a row
	sizes        []int32    // sizes of the copies
	vectors      []float32  // vectors of the copies
}

// mixedBag has its frames at [from, to) of the batch, and keeps weight parts of itself.
type mixedBag struct{ from, to, weight int }

// mixes reports whether bags are mixed in an epoch.
func (l *Loader) mixes(epoch int) bool {
	return l.augment != nil && l.config.Augment.Mixup > 0 && epoch >= l.config.AugmentFrom
}

// mix mixes the frames of a batch after all are read: bags in pairs, with a weight that is drawn for the bag
// that comes first in the set. A bag whose partner cannot be used stays as it is.
func (b *Batch) mix() {
	l, job, m := b.home, &b.job, &b.job.mixing
	if !l.mixes(job.epoch) {
		return
	}
	m.places = m.places[:0]
	for from, next := 0, 0; from < len(job.frames); from = next {
		bag := job.frames[from].bag
		for next = from + 1; next < len(job.frames) && job.frames[next].bag == bag; next++ {
		}
		if cmp.Or(job.failures[from:next]...) != nil {
			m.places = append(m.places, -1)
			continue
		}
		m.places = append(m.places, len(m.bags))
		m.bags = append(m.bags, mixedBag{from, next, augment.Wholes})
	}
	m.partners = resized(m.partners, len(m.bags))
	for at, place := range m.places {
		if place < 0 {
			continue
		}
		m.partners[place] = place
		if other := m.places[job.dealing.partners[at]]; other >= 0 {
			m.partners[place] = other
		}
	}
	for i, j := range m.partners {
		if i < j {
			p, q := &m.bags[i], &m.bags[j]
			weight := l.augment.Weight(job.epoch, min(job.frames[p.from].bag, job.frames[q.from].bag))
			p.weight, q.weight = weight, weight // both bags have equal weights
			b.mixPair(*p, *q)
		}
	}
}

// resized returns s with n elements of arbitrary values.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// mixPair mixes two bags with each other, both as they were before.
func (b *Batch) mixPair(p, q mixedBag) {
	job, m, canvas, width := &b.job, &b.job.mixing, b.home.canvasBytes(), b.home.width()
	m.pixels = append(m.pixels[:0], job.pixels.data[p.from*canvas:p.to*canvas]...)
	m.vectors = append(m.vectors[:0], job.vectors.data[p.from*width:p.to*width]...)
	m.sizes = append(m.sizes[:0], job.sizes.data[2*p.from:2*p.to]...)
	frames, others := p.to-p.from, q.to-q.from
	for t := range frames {
		from := q.from + t*others/frames
		b.mixFrame(p.from+t, p.weight, job.pixels.data[from*canvas:(from+1)*canvas], job.sizes.data[2*from:2*from+2],
			job.vectors.data[from*width:(from+1)*width], job.flips.data[from])
	}
	for t := range others {
		from := t * frames / others
		b.mixFrame(q.from+t, q.weight, m.pixels[from*canvas:(from+1)*canvas], m.sizes[2*from:2*from+2],
			m.vectors[from*width:(from+1)*width], job.flips.data[p.from+from])
	}
}

// mixFrame mixes frame i of the batch with another one. The other is mirrored where the two would be mirrored
// differently: the mixture is mirrored as frame i.
func (b *Batch) mixFrame(i, weight int, pixels []uint8, size []int32, vector []float32, flip uint8) {
	job, l := &b.job, b.home
	if d := l.width(); d > 0 {
		augment.MixFloats(job.vectors.data[i*d:(i+1)*d], vector, weight, float32(math.NaN()))
		return
	}
	canvas, s := l.canvasBytes(), job.sizes.data[2*i:2*i+2]
	to := augment.Frame{Pixels: job.pixels.data[i*canvas : (i+1)*canvas], Size: l.config.Size, Width: int(s[1]),
		Height: int(s[0])}
	from := augment.Frame{Pixels: pixels, Size: l.config.Size, Width: int(size[1]), Height: int(size[0])}
	augment.Mix(&to, &from, weight, flip != job.flips.data[i], l.config.Mean, &job.mixing.line)
	s[0], s[1] = int32(to.Height), int32(to.Width)
}

// mixed reports whether the bags of the batch are mixed.
func (b *Batch) mixed() bool { return len(b.job.mixing.bags) > 0 }

// mixLabels mixes the labels, targets or evidence of the bags like their pictures.
func (b *Batch) mixLabels() {
	if !b.mixed() {
		return
	}
	job, m, k := &b.job, &b.job.mixing, b.home.classes
	job.targets.grow(b.N * k)
	for n := range b.N {
		row := job.targets.data[n*k : (n+1)*k]
		copy(row, b.learnedRow(n))
		if other := m.partners[n]; other != n {
			augment.MixFloats(row, b.learnedRow(other), m.bags[n].weight, Unknown)
		}
	}
}

// learnedRow is what would be learned of bag n of the batch if it were not mixed.
func (b *Batch) learnedRow(n int) []float32 {
	k := b.home.classes
	if learned := b.home.config.learned(); learned != nil {
		n = b.Index[n]
		return learned.Float32s()[n*k : (n+1)*k]
	}
	return b.job.labels.data[n*k : (n+1)*k]
}
