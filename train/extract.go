package train

import (
	"context"
	"fmt"
	"math"

	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/model"
)

// Extract runs a net over a set in order, as Score does, and writes what a layer says of each bag: a row of
// its width, good until write returns. It returns the bags that could not be read and have no row. Memory
// is that of a batch, however many bags there are.
func Extract(ctx context.Context, net *model.Net, set *loader.Set, config loader.Config, layer model.Layer, write func(bag int, row []float32) error) (bad []loader.BadSample, err error) {
	width, err := net.Config().LayerWidth(layer)
	if err != nil {
		return nil, err
	}
	x := &extractor{net: net, layer: layer, width: width, arena: tensor.NewArena(net.Backend()), write: write}
	defer func() {
		if closing := x.arena.Close(); err == nil {
			err = closing
		}
	}()
	bags := max(1, min(config.BatchBags, set.Len()))
	if x.room, err = x.arena.Alloc(tensor.Float32, bags, width); err != nil {
		return nil, fmt.Errorf("training: cannot hold %s of %d bags: %w", layer, bags, err)
	}
	x.host = make([]float32, bags*width)
	return inOrder(ctx, net, set, config, x.add)
}

// extractor takes rows off the device.
type extractor struct {
	net   *model.Net
	layer model.Layer
	width int
	arena *tensor.Arena
	room  *tensor.Tensor // of the largest batch
	host  []float32      // likewise
	write func(bag int, row []float32) error
}

func (x *extractor) add(batch *loader.Batch, plan *model.Plan) error {
	room, err := x.room.Rows(0, batch.N)
	if err != nil {
		return err
	}
	rows, err := x.net.Extract(room, plan, x.layer)
	if err != nil {
		return err
	}
	host := x.host[:batch.N*x.width]
	if err := x.net.Backend().Download(hostOver(host), rows); err != nil {
		return err
	}
	for i, bag := range batch.Index {
		row := host[i*x.width : (i+1)*x.width]
		for c, v := range row {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("training: %s of bag %s is %v at %d: the weights are damaged", x.layer, batch.IDs[i], v, c)
			}
		}
		if err := x.write(bag, row); err != nil {
			return err
		}
	}
	return nil
}
