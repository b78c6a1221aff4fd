package runfeatures

import (
	"cmp"
	"context"

	"nmn/internal/origin"
	"nmn/internal/setting"
	"nmn/kernels"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/backbone"
	"nmn/train"
)

// Backbone is a pretrained net on a device. It must be closed, and is for one goroutine at a time.
type Backbone struct {
	// Workers and Prefetch are for the loader that reads its pictures.
	Workers, Prefetch int
	Digest            string // the SHA-256 of the file

	net  backbone.Net
	file string
}

// Open opens the pretrained net of a file of weights. about says what its tensors do not.
func Open(ctx context.Context, path string, about backbone.Options, backend kernels.Backend) (*Backbone, error) {
	net, err := backbone.Open(path, about, backend)
	if err != nil {
		return nil, &setting.Error{Key: "net.backbone", Reason: err}
	}
	b := &Backbone{net: net, file: path}
	if b.Digest, err = origin.Digest(ctx, path); err != nil {
		return nil, cmp.Or(err, net.Close())
	}
	return b, nil
}

// Close gives back the memory of the net.
func (b *Backbone) Close() error { return b.net.Close() }

// Info describes the net: its name, its layers, and what it wants of pictures.
func (b *Backbone) Info() *backbone.Info { return b.net.Info() }

// About describes the net and one of its layers for checkpoints.
func (b *Backbone) About(layer model.Layer) *train.Backbone {
	info := b.Info()
	return &train.Backbone{File: b.file, SHA256: b.Digest, Net: info.Name, Layer: layer, Pictures: info.Pictures,
		GELU: info.GELU, Heads: info.Heads}
}

// Width is the number of features of a layer.
func (b *Backbone) Width(layer model.Layer) (int, error) { return b.Info().Width(layer) }

// Loader reads pictures upright: what is prepared for the net is what people see.
func (b *Backbone) Loader(batch, maxBadSamples, maxPixels int) loader.Config {
	l := loader.DefaultConfig()
	l.BatchSize, l.MaxBadSamples, l.MaxPixels, l.Orientation = batch, maxBadSamples, maxPixels, picture.OrientationApply
	l.Workers, l.Prefetch = b.Workers, b.Prefetch
	l.Flip, l.Shuffle = false, false
	return l
}

// Rows passes on the outputs of layers for each picture, in order, and returns the pictures that cannot be read.
func (b *Backbone) Rows(ctx context.Context, set *loader.Set, l loader.Config, layers []model.Layer,
	write func(bag int, rows [][]float32) error) ([]loader.BadSample, error) {
	return train.Features(ctx, b.net, set, l, layers, write)
}
