package train

import (
	"context"
	"fmt"
	"math"

	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
)

// Extract runs a net over a set in order, as Score does, and writes the outputs of layers for each bag: a row
// for each layer, valid until write returns. All come from one forward pass. It returns the bags that could
// not be read, which have no rows. It needs the memory of one batch, however large the set.
func Extract(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config, layers []model.Layer,
	write func(bag int, rows [][]float32) error) (bad []loader.BadSample, err error) {
	x := &extractor{net: net, arena: tensor.NewArena(net.Backend()), write: write, rows: make([][]float32, len(layers))}
	defer func() {
		if closing := x.arena.Close(); err == nil {
			err = closing
		}
	}()
	if err := x.hold(layers, max(1, min(config.BatchSize, set.Len()))); err != nil {
		return nil, err
	}
	return wholeSet(ctx, net, set, config, x.outputs, x.add)
}

// hold makes room for the layer outputs of this number of bags.
func (x *extractor) hold(layers []model.Layer, bags int) error {
	for _, layer := range layers {
		width, err := x.net.Config().LayerWidth(layer)
		if err != nil {
			return err
		}
		room, err := x.arena.Alloc(tensor.Float32, bags, width)
		if err != nil {
			return fmt.Errorf("training: cannot hold %s of %d samples: %w", layer, bags, err)
		}
		x.layers = append(x.layers, extractedLayer{layer, width, room})
	}
	return nil
}

// extractor takes rows off the device.
type extractor struct {
	net    *model.Net
	arena  *tensor.Arena
	layers []extractedLayer
	list   []*tensor.Tensor
	rows   [][]float32 // of one bag
	write  func(bag int, rows [][]float32) error
}

// extractedLayer has room on the device for the outputs of a layer for the largest batch.
type extractedLayer struct {
	name  model.Layer
	width int
	room  *tensor.Tensor
}

// outputs lists the rows of the layers, computed after the forward pass.
func (x *extractor) outputs(plan *model.Plan) ([]*tensor.Tensor, error) {
	x.list = x.list[:0]
	for _, l := range x.layers {
		room, err := l.room.Rows(0, plan.Bags)
		if err != nil {
			return nil, err
		}
		rows, err := x.net.Extract(room, plan, l.name)
		if err != nil {
			return nil, err
		}
		x.list = append(x.list, rows)
	}
	return x.list, nil
}

// add writes the rows of a batch.
func (x *extractor) add(batch *loader.Batch, values [][]float32) error {
	for i, l := range x.layers {
		if err := l.check(batch, values[i]); err != nil {
			return err
		}
	}
	for n, bag := range batch.Index {
		for i, l := range x.layers {
			x.rows[i] = values[i][n*l.width : (n+1)*l.width]
		}
		if err := x.write(bag, x.rows); err != nil {
			return err
		}
	}
	return nil
}

// check refuses rows that are not finite.
func (l *extractedLayer) check(batch *loader.Batch, rows []float32) error {
	for i, v := range rows {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("training: %s of sample %s is %v at %d: the weights are damaged",
				l.name, batch.IDs[i/l.width], v, i%l.width)
		}
	}
	return nil
}
