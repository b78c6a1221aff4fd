package train

import (
	"context"
	"fmt"

	"nmn/loader"
	"nmn/loader/augment"
	"nmn/model"
	"nmn/model/backbone"

	dense "gorgonia.org/tensor"
)

// Features computes the outputs of layers of a pretrained net for the bags of a set, in order: a row for each
// layer, valid until write returns. The row of a bag of several frames is the mean over its frames. Features
// returns the bags that could not be read, which have no rows. At most config.BatchSize frames go through the
// net at once. Rows do not depend on that number.
func Features(ctx context.Context, net backbone.Net, set *loader.Set, config loader.Config,
	layers []model.Layer, write func(bag int, rows [][]float32) error) (bad []loader.BadSample, err error) {
	rows, err := newLayerRows(layers, net.Info().Width, write)
	if err != nil {
		return nil, err
	}
	p := &featurePass{layerRows: rows, net: net, most: config.BatchSize, frames: make([][]float32, len(layers)),
		bags: make([][]float32, len(layers))}
	s, err := p.open(ctx, set, config)
	if err != nil {
		return nil, err
	}
	_, bad, err = s.through(ctx, p.add)
	return bad, err
}

// featurePass brings batches through a pretrained net. The next batches are read meanwhile, by the loader's workers.
type featurePass struct {
	*layerRows
	net    backbone.Net
	most   int         // frames that go through the net at once
	frames [][]float32 // layer outputs for the frames of a batch
	bags   [][]float32 // of its bags
}

// open begins to read the batches of a set.
func (p *featurePass) open(ctx context.Context, set *loader.Set, config loader.Config) (*scoring, error) {
	if set.Source == nil {
		return nil, fmt.Errorf("the set %q has no pictures to take features of", set.Name)
	}
	pictures := p.net.Info().Pictures
	config.Preprocessing, config.Size, config.Mean = &pictures, pictures.Crop, [3]uint8{}
	config.Targets, config.Evidence, config.Standard, config.Memory = nil, nil, nil, nil
	config.Flip, config.Shuffle, config.Augment = false, false, augment.Config{}
	config.Share = loader.Share{}
	l, err := loader.New(set, config)
	if err != nil {
		return nil, err
	}
	epoch, err := l.Epoch(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	return &scoring{pass: p, loader: l, epoch: epoch}, nil
}

func (p *featurePass) overlaps() bool { return false }

func (p *featurePass) close() error { return nil }

func (p *featurePass) finish(*loader.Batch) ([][]float32, error) { return p.bags, nil }

// begin runs the frames of a batch through the net, and averages the rows of each bag's frames.
func (p *featurePass) begin(batch *loader.Batch) error {
	size, pixels := p.net.Info().Pictures.Crop, batch.Pixels.Uint8s()
	for i, width := range p.widths {
		p.frames[i], p.bags[i] = room(p.frames[i], batch.T*width), room(p.bags[i], batch.N*width)
	}
	for from := 0; from < batch.T; from += p.most {
		to := min(from+p.most, batch.T)
		for i, width := range p.widths {
			p.row[i] = p.frames[i][from*width : to*width]
		}
		part := dense.New(dense.WithShape(to-from, size, size, 3), dense.WithBacking(pixels[from*size*size*3:to*size*size*3]))
		if err := p.net.Features(part, p.layers, p.row); err != nil {
			return fmt.Errorf("features of samples %s: %w", listed(batch.IDs), err)
		}
	}
	offsets := batch.Offsets.Int32s()
	for n := range batch.N {
		for i, width := range p.widths {
			meanRow(p.bags[i][n*width:(n+1)*width], p.frames[i][int(offsets[n])*width:int(offsets[n+1])*width])
		}
	}
	return nil
}

func room(values []float32, n int) []float32 {
	if cap(values) < n {
		return make([]float32, n)
	}
	return values[:n]
}

// meanRow is the mean of rows, in float64.
func meanRow(mean, rows []float32) {
	if len(rows) == len(mean) {
		copy(mean, rows)
		return
	}
	for i := range mean {
		sum := 0.0
		for at := i; at < len(rows); at += len(mean) {
			sum += float64(rows[at])
		}
		mean[i] = float32(sum / float64(len(rows)/len(mean)))
	}
}
