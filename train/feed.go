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
	f.staged, f.arrays = nil, f.arrays[:0]
	for _, array := range f.sources(b) {
		if array != nil {
			f.arrays = append(f.arrays, array)
		}
	}
	if err := f.beside.Stage(f.arrays); err != nil {
		return err
	}
	f.staged = b
	return nil
}

// sources lists what a device needs of a batch, and places where a plan has it. nil is left out.
func (f *feed) sources(b *loader.Batch) [8]*dense.Dense {
	list := [8]*dense.Dense{b.Pixels, b.Sizes, b.Flips, b.Vectors, b.Offsets}
	if !f.scoring {
		list[5], list[6], list[7] = b.Keys, learned(b), b.Weights
	}
	return list
}

func places(p *model.Plan) [8]*tensor.Tensor {
	return [8]*tensor.Tensor{p.Pixels, p.Sizes, p.Flips, p.X, p.Offsets, p.Keys, p.Labels, p.Weights}
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
		return f.upload(p, b)
	}
	if f.staged != b {
		if err := f.stage(b); err != nil {
			return err
		}
	}
	f.staged, f.tensors = nil, f.tensors[:0]
	to := places(p)
	for i, array := range f.sources(b) {
		if array != nil {
			f.tensors = append(f.tensors, to[i])
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

// upload copies a batch to the device.
func (f *feed) upload(p *model.Plan, b *loader.Batch) error {
	to := places(p)
	for i, array := range f.sources(b) {
		if array == nil || to[i] == nil {
			continue
		}
		if err := f.backend.Upload(to[i], array); err != nil {
			return err
		}
	}
	return nil
}
