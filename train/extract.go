package train

import (
	"context"
	"fmt"
	"math"

	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
)

// Extract runs a net over a set in order, as Score does, and writes what layers say about each bag: a row for
// each layer, of its width, good until write returns. All come from one forward pass. It returns the bags that
// could not be read and have no rows. Memory is that of a batch, however many bags there are.
func Extract(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config, layers []model.Layer,
	write func(bag int, rows [][]float32) error) (bad []loader.BadSample, err error) {
	x := &extractor{net: net, arena: tensor.NewArena(net.Backend()), write: write, rows: make([][]float32, len(layers))}
	defer func() {
		if closing := x.arena.Close(); err == nil {
			err = closing
		}
	}()
	bags := max(1, min(config.BatchBags, set.Len()))
	for _, layer := range layers {
		width, err := net.Config().LayerWidth(layer)
		if err != nil {
			return nil, err
		}
		room, err := x.arena.Alloc(tensor.Float32, bags, width)
		if err != nil {
			return nil, fmt.Errorf("training: cannot hold %s of %d bags: %w", layer, bags, err)
		}
		x.layers = append(x.layers, extractedLayer{layer, width, room, make([]float32, bags*width)})
	}
	return inOrder(ctx, net, set, config, x.add)
}

// extractor takes rows off the device.
type extractor struct {
	net    *model.Net
	arena  *tensor.Arena
	layers []extractedLayer
	rows   [][]float32 // of one bag
	write  func(bag int, rows [][]float32) error
}

// extractedLayer has room for what a layer says about the largest batch, on the device and on the host.
type extractedLayer struct {
	name  model.Layer
	width int
	room  *tensor.Tensor
	host  []float32
}

func (x *extractor) add(batch *loader.Batch, plan *model.Plan) error {
	for i := range x.layers {
		if err := x.layers[i].take(x.net, batch, plan); err != nil {
			return err
		}
	}
	for n, bag := range batch.Index {
		for i, l := range x.layers {
			x.rows[i] = l.host[n*l.width : (n+1)*l.width]
		}
		if err := x.write(bag, x.rows); err != nil {
			return err
		}
	}
	return nil
}

// take brings the rows of a batch to the host.
func (l *extractedLayer) take(net *model.Net, batch *loader.Batch, plan *model.Plan) error {
	room, err := l.room.Rows(0, batch.N)
	if err != nil {
		return err
	}
	rows, err := net.Extract(room, plan, l.name)
	if err != nil {
		return err
	}
	host := l.host[:batch.N*l.width]
	if err := net.Backend().Download(hostOver(host), rows); err != nil {
		return err
	}
	for i, v := range host {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("training: %s of bag %s is %v at %d: the weights are damaged",
				l.name, batch.IDs[i/l.width], v, i%l.width)
		}
	}
	return nil
}
