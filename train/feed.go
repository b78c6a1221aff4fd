package train

import (
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"

	dense "gorgonia.org/tensor"
)

// feed brings batches to the net's device. If the device can upload while it computes, a batch is staged
// while the earlier one is in work. Otherwise a batch is uploaded when it is taken.
type feed struct {
	backend kernels.Backend
	scoring bool          // no labels or keys of dropout are needed
	beside  kernels.Feed  // nil if uploads wait for their turn
	staged  *loader.Batch // the batch that has been uploaded early
	arrays  []*dense.Dense
	tensors []*tensor.Tensor
}

func newFeed(backend kernels.Backend) (*feed, error) {
	f := &feed{backend: backend}
	card, ok := backend.(kernels.Card)
	if !ok {
		return f, nil
	}
	var err error
	f.beside, err = card.NewFeed()
	return f, err
}

// ahead reports whether staging a batch early helps.
func (f *feed) ahead() bool { return f.beside != nil }

// stage begins to upload a batch. The batch must not be released before it is dropped, or before it is taken
// and the device is waited for: the device reads its pixels in place.
func (f *feed) stage(b *loader.Batch) error {
	f.staged = nil
	if b.Vectors != nil {
		f.arrays = append(f.arrays[:0], b.Vectors, b.Offsets)
	} else {
		f.arrays = append(f.arrays[:0], b.Pixels, b.Sizes, b.Flips, b.Offsets)
	}
	if !f.scoring {
		f.arrays = append(f.arrays, b.Keys, learned(b))
		if b.Weights != nil {
			f.arrays = append(f.arrays, b.Weights)
		}
	}
	if err := f.beside.Stage(f.arrays); err != nil {
		return err
	}
	f.staged = b
	return nil
}

// learned returns what the classifier learns from a batch: its soft targets or evidence if it has any, else
// its labels.
func learned(b *loader.Batch) *dense.Dense {
	if b.Targets != nil {
		return b.Targets
	}
	return b.Labels
}

// take makes a batch the input of a plan of its shape.
func (f *feed) take(p *model.Plan, b *loader.Batch) error {
	if f.beside == nil {
		return upload(f.backend, p, b, !f.scoring)
	}
	if f.staged != b {
		if err := f.stage(b); err != nil {
			return err
		}
	}
	f.staged = nil
	if b.Vectors != nil {
		f.tensors = append(f.tensors[:0], p.X, p.Offsets)
	} else {
		f.tensors = append(f.tensors[:0], p.Pixels, p.Sizes, p.Flips, p.Offsets)
	}
	if !f.scoring {
		f.tensors = append(f.tensors, p.Keys, p.Labels)
		if b.Weights != nil {
			f.tensors = append(f.tensors, p.Weights)
		}
	}
	return f.beside.Take(f.tensors)
}

// drop discards the staged batch. After it no upload is reading from a batch.
func (f *feed) drop() error {
	f.staged = nil
	if f.beside == nil {
		return nil
	}
	return f.beside.Wait()
}

// memory is the memory of batches that the device reads directly; nil if there is none.
func (f *feed) memory() loader.Memory {
	if f.beside == nil {
		return nil
	}
	return f.beside
}

func (f *feed) close() error {
	if f.beside == nil {
		return nil
	}
	return f.beside.Close()
}

// upload copies a batch to the device. Without training there are no keys or labels to copy.
func upload(device tensor.Device, p *model.Plan, b *loader.Batch, training bool) error {
	for _, pair := range [...]struct {
		dst      *tensor.Tensor
		src      *dense.Dense
		training bool
	}{
		{p.Pixels, b.Pixels, false}, {p.Sizes, b.Sizes, false}, {p.Flips, b.Flips, false}, {p.X, b.Vectors, false},
		{p.Offsets, b.Offsets, false}, {p.Keys, b.Keys, true}, {p.Labels, learned(b), true}, {p.Weights, b.Weights, true},
	} {
		if pair.training && !training || pair.src == nil || pair.dst == nil {
			continue
		}
		if err := device.Upload(pair.dst, pair.src); err != nil {
			return err
		}
	}
	return nil
}
