package loader

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"nmn/loader/augment"
	"nmn/loader/picture"
)

// Preview is a bag in an epoch: its middle frame, as the network sees it.
type Preview struct {
	Picture picture.Picture // the valid extent of the canvas, mirrored where the network sees it so
	Labels  []float32       // K: the labels to learn for the bag
	Applied []string        // changes made to it, as text; nil for none
}

// Previewer makes previews of a Loader's pictures. It is for one goroutine. Close it.
type Previewer struct {
	loader *Loader
	worker *worker
}

// Previews makes a Previewer; the set must have pictures.
func (l *Loader) Previews(ctx context.Context) (*Previewer, error) {
	if l.set.Vectors != nil {
		return nil, fmt.Errorf("loader: the set %q has features, which cannot be shown", l.set.Name)
	}
	return &Previewer{l, l.newWorker(ctx)}, nil
}

// Close ends it.
func (p *Previewer) Close() { p.worker.close() }

// Bag returns the preview of a bag in an epoch. If bags are mixed, its whole batch is read.
func (p *Previewer) Bag(epoch, bag int) (*Preview, error) {
	l := p.loader
	number, order, err := l.batchOf(epoch, bag)
	if err != nil {
		return nil, err
	}
	if l.config.Augment.Mixup == 0 {
		order = []int{bag}
	}
	b := newBatch(l)
	b.begin(number, epoch, order)
	for i := range b.job.frames {
		b.read(p.worker, i)
	}
	var broken error
	err = b.finish(func(of int, why error) error {
		if of == bag {
			broken = why
		}
		return nil
	})
	if err != nil || broken != nil {
		return nil, fmt.Errorf("preview: %w", cmp.Or(err, broken))
	}
	for n, of := range b.Index {
		if of == bag {
			return p.preview(b, n)
		}
	}
	return nil, fmt.Errorf("preview: sample %d of %q is in no batch", bag, l.set.Name)
}

// batchOf finds the batch of an epoch that has a bag.
func (l *Loader) batchOf(epoch, bag int) (number int, bags []int, err error) {
	order := l.Order(epoch)
	for number = range l.Batches() {
		if bags = order.Batch(number); slices.Contains(bags, bag) {
			return number, bags, nil
		}
	}
	return 0, nil, fmt.Errorf("preview: sample %d of %q is in no batch of epoch %d", bag, l.set.Name, epoch)
}

// preview shows bag n of a batch.
func (p *Previewer) preview(b *Batch, n int) (*Preview, error) {
	l, offsets := p.loader, b.Offsets.Int32s()
	i := int(offsets[n]+offsets[n+1]) / 2
	size, s := l.config.Size, b.Sizes.Int32s()[2*i:2*i+2]
	var out Preview
	out.Picture.Resize(int(s[1]), int(s[0]))
	pixels, row := b.Pixels.Uint8s()[i*l.canvasBytes():], 3*int(s[1])
	mirrored := b.Flips.Uint8s()[i] != 0
	for y := range int(s[0]) {
		to := out.Picture.Pix[y*row : (y+1)*row]
		copy(to, pixels[3*size*y:])
		if mirrored {
			mirror(to)
		}
	}
	labels := cmp.Or(b.Targets, b.Labels)
	out.Labels = append(out.Labels, labels.Float32s()[n*l.classes:(n+1)*l.classes]...)
	var err error
	out.Applied, err = p.applied(b, n, i-int(offsets[n]))
	if mirrored {
		out.Applied = append(out.Applied, "mirrored")
	}
	return &out, err
}

// mirror turns a row of pixels around.
func mirror(row []uint8) {
	for i, j := 0, len(row)-3; i < j; i, j = i+3, j-3 {
		for c := range 3 {
			row[i+c], row[j+c] = row[j+c], row[i+c]
		}
	}
}

// applied lists what was done to a frame of bag n. Its crop is made once more, for its extent on the canvas.
func (p *Previewer) applied(b *Batch, n, frame int) (lines []string, err error) {
	l, bag, epoch := p.loader, b.Index[n], b.job.epoch
	if l.augment == nil || epoch < l.config.AugmentFrom {
		return nil, nil
	}
	if w := p.worker; w.augment != nil {
		pic, err := w.reader.read(w.ctx, frameOf{bag, frame})
		if err != nil {
			return nil, err
		}
		defer pic.Release()
		fromWidth, fromHeight := pic.Width, pic.Height
		fit := w.crop(pic, l.config.Fit, l.config.Size, epoch, bag)
		width, height, err := w.resizer.Place(make([]uint8, l.canvasBytes()), l.config.Size, pic, fit)
		if err != nil {
			return nil, err
		}
		lines = l.augment.Describe(epoch, bag, fromWidth, fromHeight, width, height)
	}
	if m := &b.job.mixing; b.mixed() && m.partners[n] != n {
		share := 100 * float64(m.bags[n].weight) / augment.Wholes
		lines = append(lines, fmt.Sprintf("%.0f %% itself, %.0f %% %s", share, 100-share, b.IDs[m.partners[n]]))
	}
	return lines, nil
}
