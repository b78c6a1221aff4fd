package loader

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	dense "gorgonia.org/tensor"

	"nmn/loader/augment"
)

// Batch is a number of bags with their labels: N bags of T frames in all, on canvases of S×S
// pixels, over K classes. It belongs to the caller until Release, which gives its memory back to
// the Loader; a batch that is not released is left to the garbage collector.
type Batch struct {
	Number int // position in the epoch: an epoch that starts after this batch starts at Number+1
	N, T   int // bags, frames

	Pixels  *dense.Dense // T×S×S×3 of uint8, RGB; nil where the set has features
	Vectors *dense.Dense // T×D of float32, scaled; nil where the set has pictures
	Sizes   *dense.Dense // T×2 of int32: valid height and width on the canvas; beyond them Pixels are 0
	Flips   *dense.Dense // T of uint8: 1 where the frame is to be mirrored, within its valid width
	Keys    *dense.Dense // T of int32: random, from (seed, epoch, bag, frame), for dropout masks
	Offsets *dense.Dense // N+1 of int32: bag n owns the frames Offsets[n] to Offsets[n+1]-1
	Labels  *dense.Dense // N×K of float32: the observed labels
	Targets *dense.Dense // N×K of float32: soft targets, or Unknown, or evidence; nil where labels are learned as they are

	Weights *dense.Dense // N of float32: weights of the bags; nil for none

	Index []int    // N: which bags of the set they are
	IDs   []string // N

	home *Loader
	held bool // not released
	job  assembly
}

// assembly is how the workers put a batch together.
type assembly struct {
	epoch   int
	order   []int         // the bags of the batch, broken ones included
	frames  []frameJob    // one per frame of those that are read here
	rows    []Row         // one per bag that is read here, where the set has Rows
	refused error         // why the batch cannot be made; it has no frames then
	pending atomic.Int32  // frames that are not read yet
	done    chan struct{} // gets one value when pending reaches 0

	pixels, flips        hostArray[uint8]
	sizes, keys, offsets hostArray[int32]
	labels, targets      hostArray[float32]
	weights              hostArray[float32]
	vectors              hostArray[float32]
	failures             []error // per frame
	dealing              dealing
	mixing               mixing
}

// frameJob names a frame: its bag in the set, its number, and the index of the bag among those being read.
type frameJob struct{ bag, frame, at int }

// Release gives the memory of the batch back. The batch and its tensors must not be used afterwards;
// releasing it once more does nothing.
func (b *Batch) Release() {
	if b.home != nil {
		b.home.recycle(b)
	}
}

func newBatch(home *Loader) *Batch {
	return &Batch{home: home, held: true, job: assembly{done: make(chan struct{}, 1)}}
}

// begin lays the batch out for the bags of order: which frame goes where, and the room for them.
func (b *Batch) begin(number, epoch int, order []int) {
	l, job := b.home, &b.job
	b.Number, job.epoch, job.order = number, epoch, order
	job.frames = job.frames[:0]
	job.refused = nil
	job.mixing.bags = job.mixing.bags[:0]
	bags := b.deal(order)
	for at, bag := range bags {
		// Reading a frame of a bag without frames returns the reason, and skips that bag.
		frames := max(1, l.set.frames(bag))
		if job.refused = l.tooLarge(bag, len(job.frames)+frames); job.refused != nil {
			job.frames = job.frames[:0]
			break
		}
		for frame := range frames {
			job.frames = append(job.frames, frameJob{bag, frame, at})
		}
	}
	select {
	case <-job.done: // the epoch ended before this batch was requested
	default:
	}
	if l.set.Rows != nil {
		job.rows = slices.Grow(job.rows[:0], len(bags))[:len(bags)]
	}
	if err := b.reserve(len(job.frames)); err != nil {
		job.refused, job.frames = err, job.frames[:0]
	}
	t := len(job.frames)
	job.sizes.grow(2 * t)
	job.flips.grow(t)
	job.keys.grow(t)
	job.offsets.grow(len(bags) + 1)
	job.failures = resized(job.failures, t)
	job.pending.Store(int32(t))
}

// reserve makes room for the pixels or vectors of the given number of frames.
func (b *Batch) reserve(frames int) error {
	l, job := b.home, &b.job
	err := job.pixels.growIn(l.config.Memory, frames*l.canvasBytes())
	if err == nil {
		err = job.vectors.growIn(l.config.Memory, frames*l.width())
	}
	if err != nil {
		return fmt.Errorf("loader: cannot hold a batch of %d frames; lower the batch size or `run.prefetch`: %w", frames, err)
	}
	return nil
}

// read fills frame i. It is called once for each frame, from any goroutine.
func (b *Batch) read(w *worker, i int) {
	l, job := b.home, &b.job
	f := job.frames[i]
	job.failures[i] = nil
	defer func() {
		if job.pending.Add(-1) == 0 {
			b.mix()
			job.done <- struct{}{}
		}
	}()
	if l.set.Vectors != nil {
		job.failures[i] = b.readVector(w, i)
	} else {
		job.failures[i] = b.readPicture(w, i)
	}
	if job.failures[i] == nil && l.set.Rows != nil && f.frame == 0 {
		job.failures[i] = l.set.Rows.Read(w.ctx, f.bag, &job.rows[f.at])
	}
	job.flips.data[i] = l.draws.mirrored(job.epoch, f.bag)
	job.keys.data[i] = l.draws.key(job.epoch, f.bag, f.frame)
}

// readPicture puts the picture of frame i onto its canvas.
func (b *Batch) readPicture(w *worker, i int) error {
	l, job := b.home, &b.job
	f, size := job.frames[i], l.canvasBytes()
	pic, err := w.reader.read(w.ctx, frameOf{f.bag, f.frame})
	if err != nil {
		if pic != nil {
			pic.Release()
		}
		return err
	}
	defer pic.Release()
	if p := l.config.Preprocessing; p != nil {
		job.sizes.data[2*i], job.sizes.data[2*i+1] = int32(p.Crop), int32(p.Crop)
		if err := w.resizer.Prepare(job.pixels.data[i*size:(i+1)*size], pic, p); err != nil {
			return l.named(f.bag, f.frame, err)
		}
		return nil
	}
	fit, canvas := l.config.Fit, job.pixels.data[i*size:(i+1)*size]
	changed := w.augment != nil && job.epoch >= l.config.AugmentFrom
	if changed {
		fit = w.crop(pic, fit, l.config.Size, job.epoch, f.bag)
	}
	width, height, err := w.resizer.Place(canvas, l.config.Size, pic, fit)
	if err != nil {
		return l.named(f.bag, f.frame, err)
	}
	if changed {
		at := augment.Place{Epoch: job.epoch, Bag: f.bag, Frame: f.frame}
		w.augment.Canvas(canvas, l.config.Size, width, height, at)
	}
	job.sizes.data[2*i], job.sizes.data[2*i+1] = int32(height), int32(width)
	return nil
}

// readVector puts the features of frame i into their row, on the scale of the configuration.
func (b *Batch) readVector(w *worker, i int) error {
	l, f, d := b.home, b.job.frames[i], b.home.width()
	row := b.job.vectors.data[i*d : (i+1)*d]
	if err := l.set.Vectors.Read(w.ctx, f.bag, f.frame, row); err != nil {
		return err
	}
	b.job.sizes.data[2*i], b.job.sizes.data[2*i+1] = 1, 1
	l.config.Standard.apply(row)
	return nil
}

// finish closes the gaps that broken bags leave, and fills in what belongs to bags. It reports every
// broken bag to bad, in order, and stops at an error that is not about one picture.
func (b *Batch) finish(bad func(bag int, err error) error) error {
	l, job := b.home, &b.job
	if job.refused != nil {
		return job.refused
	}
	b.Index, b.IDs = b.Index[:0], b.IDs[:0]
	job.offsets.data[0] = 0
	kept, next := 0, 0
	for from := 0; from < len(job.frames); from = next {
		bag := job.frames[from].bag
		for next = from + 1; next < len(job.frames) && job.frames[next].bag == bag; next++ {
		}
		if err := cmp.Or(job.failures[from:next]...); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				return err
			}
			if err := bad(bag, err); err != nil {
				return err
			}
			continue
		}
		job.move(kept, from, next, l)
		kept += next - from
		if l.set.Rows != nil {
			at := job.frames[from].at
			b.IDs = append(b.IDs, job.rows[at].ID)
			job.rows[len(b.Index)], job.rows[at] = job.rows[at], job.rows[len(b.Index)] // its memory is used again
		} else {
			b.IDs = append(b.IDs, l.set.IDs[bag])
		}
		b.Index = append(b.Index, bag)
		job.offsets.data[len(b.Index)] = int32(kept)
	}
	b.N, b.T = len(b.Index), kept
	if b.N == 0 {
		b.unwrap()
		return nil
	}
	b.fillLabels()
	b.mixLabels()
	b.wrap()
	return nil
}

// move puts the frames [from, next) to position kept, which is not after them.
func (a *assembly) move(kept, from, next int, l *Loader) {
	if kept == from {
		return
	}
	canvas, width := l.canvasBytes(), l.width()
	copy(a.vectors.data[kept*width:], a.vectors.data[from*width:next*width])
	copy(a.pixels.data[kept*canvas:], a.pixels.data[from*canvas:next*canvas])
	copy(a.sizes.data[2*kept:], a.sizes.data[2*from:2*next])
	copy(a.flips.data[kept:], a.flips.data[from:next])
	copy(a.keys.data[kept:], a.keys.data[from:next])
}

// fillLabels copies the rows of the bags that are left.
func (b *Batch) fillLabels() {
	l, job, k := b.home, &b.job, b.home.classes
	job.labels.grow(b.N * k)
	if l.set.Weights != nil {
		job.weights.grow(b.N)
		for n, bag := range b.Index {
			job.weights.data[n] = l.set.Weights[bag]
		}
	}
	if l.set.Rows != nil {
		b.fillRows()
		return
	}
	observed := l.set.Labels.Uint8s()
	for n, bag := range b.Index {
		for c, z := range observed[bag*k : (bag+1)*k] {
			job.labels.data[n*k+c] = float32(z)
			if z == UnknownLabel {
				job.labels.data[n*k+c] = Unknown
			}
		}
	}
	learned := l.config.learned()
	if learned == nil {
		return
	}
	job.targets.grow(b.N * k)
	targets := learned.Float32s()
	for n, bag := range b.Index {
		copy(job.targets.data[n*k:(n+1)*k], targets[bag*k:(bag+1)*k])
	}
}

// fillRows sets the labels that the rows of the bags list.
func (b *Batch) fillRows() {
	labels, k := b.job.labels.data, b.home.classes
	clear(labels)
	for n := range b.Index {
		for _, c := range b.job.rows[n].Labels {
			labels[n*k+int(c)] = 1
		}
	}
}

// wrap puts tensors around the memory.
func (b *Batch) wrap() {
	job, s, k := &b.job, b.home.config.Size, b.home.classes
	if d := b.home.width(); d > 0 {
		b.Vectors = job.vectors.wrap(b.T, d)
	} else {
		b.Pixels = job.pixels.wrap(b.T, s, s, 3)
	}
	b.Sizes = job.sizes.wrap(b.T, 2)
	b.Flips = job.flips.wrap(b.T)
	b.Keys = job.keys.wrap(b.T)
	b.Offsets = job.offsets.wrap(b.N + 1)
	b.Labels = job.labels.wrap(b.N, k)
	if b.home.set.Weights != nil {
		b.Weights = job.weights.wrap(b.N)
	}
	b.Targets = nil
	if b.home.config.learned() != nil || b.mixed() {
		b.Targets = job.targets.wrap(b.N, k)
	}
}

// unwrap takes away the tensors of the batch before.
func (b *Batch) unwrap() {
	b.Pixels, b.Vectors, b.Sizes, b.Flips, b.Keys = nil, nil, nil, nil, nil
	b.Offsets, b.Labels, b.Targets, b.Weights = nil, nil, nil, nil
}
