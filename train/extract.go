package train

import (
	"cmp"
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
	x := &extractor{net: net, arena: tensor.NewArena(net.Backend())}
	defer func() { err = cmp.Or(err, x.arena.Close()) }()
	if x.layerRows, err = newLayerRows(layers, net.Config().LayerWidth, write); err != nil {
		return nil, err
	}
	if err := x.hold(max(1, min(config.BatchSize, set.Len()))); err != nil {
		return nil, err
	}
	config.Share = loader.Share{}
	bags, bad, err := inOrder(ctx, net, set, config, x.outputs, x.add)
	return bad, cmp.Or(err, noneLeft(set, bags, bad))
}

// extractor takes rows off the device.
type extractor struct {
	*layerRows
	net   *model.Net
	arena *tensor.Arena
	rooms []*tensor.Tensor // on the device, for the outputs of each layer for the largest batch
	list  []*tensor.Tensor
}

// hold makes room for the layer outputs of this number of bags.
func (x *extractor) hold(bags int) error {
	for i, layer := range x.layers {
		room, err := x.arena.Alloc(tensor.Float32, bags, x.widths[i])
		if err != nil {
			return fmt.Errorf("training: cannot hold %s of %d samples: %w", layer, bags, err)
		}
		x.rooms = append(x.rooms, room)
	}
	return nil
}

// outputs lists the rows of the layers, computed after the forward pass.
func (x *extractor) outputs(plan *model.Plan) ([]*tensor.Tensor, error) {
	x.list = x.list[:0]
	for i, layer := range x.layers {
		room, err := x.rooms[i].Rows(0, plan.Bags)
		if err != nil {
			return nil, err
		}
		rows, err := x.net.Extract(room, plan, layer)
		if err != nil {
			return nil, err
		}
		x.list = append(x.list, rows)
	}
	return x.list, nil
}

// layerRows passes on the rows of layers, bag by bag.
type layerRows struct {
	layers []model.Layer
	widths []int
	row    [][]float32 // of one bag
	write  func(bag int, rows [][]float32) error
}

func newLayerRows(layers []model.Layer, width func(model.Layer) (int, error),
	write func(bag int, rows [][]float32) error) (*layerRows, error) {
	l := &layerRows{layers: layers, row: make([][]float32, len(layers)), write: write}
	for _, layer := range layers {
		n, err := width(layer)
		if err != nil {
			return nil, err
		}
		l.widths = append(l.widths, n)
	}
	return l, nil
}

// add writes the rows of a batch. It refuses those that are not finite.
func (l *layerRows) add(batch *loader.Batch, values [][]float32) error {
	for i, width := range l.widths {
		for at, v := range values[i] {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("training: %s of sample %s is %v at %d: the weights are damaged",
					l.layers[i], batch.IDs[at/width], v, at%width)
			}
		}
	}
	for n, bag := range batch.Index {
		for i, width := range l.widths {
			l.row[i] = values[i][n*width : (n+1)*width]
		}
		if err := l.write(bag, l.row); err != nil {
			return err
		}
	}
	return nil
}
