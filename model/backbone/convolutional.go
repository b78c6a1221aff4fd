package backbone

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"nmn/format/weights"
	"nmn/kernels"
	"nmn/kernels/tensor"
	"nmn/loader/picture"
	"nmn/model"

	dense "gorgonia.org/tensor"
)

// convolutional recognises the nets of package model.
func convolutional(file *weights.File, o *Options, backend kernels.Backend) (*kind, error) {
	if name := model.RecogniseResNet(file); name != "" {
		return resnet(name, file, o, backend)
	}
	return vgg16(file, o, backend)
}

// widthsOf are the channels of layers with a weight in the file, by their names, as far as a net of a configuration has
// such layers, of whatever width.
func widthsOf(c model.Config, file *weights.File, backend kernels.Backend) (map[string]int, error) {
	shapes, err := model.MatchFile(c, backend, file, func(*model.Param) model.Need { return model.Optional })
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, m := range append(shapes.Taken, shapes.Missing...) {
		if name, ok := strings.CutSuffix(m.Param, ".weight"); ok && len(m.Shape) > 0 {
			out[name] = m.Shape[0]
		}
	}
	return out, nil
}

// resnet opens a residual net that package model has under this name, with any number of channels.
func resnet(name string, file *weights.File, o *Options, backend kernels.Backend) (*kind, error) {
	c, err := model.ResNet(name, 1, false)
	if err != nil {
		return nil, err
	}
	for i := range c.Widths {
		own := fmt.Sprintf("layer%d.0.conv1.weight", i+1)
		for _, tensor := range file.Names() {
			if tensor != own && !strings.HasSuffix(tensor, "."+own) {
				continue
			}
			_, shape, err := file.Info(tensor)
			if err != nil {
				return nil, err
			}
			if len(shape) > 0 && shape[0] > 0 {
				c.Widths[i] = shape[0]
			}
		}
	}
	return ofModel("ResNet-"+strings.TrimPrefix(name, "resnet"), c, picture.TorchvisionPreprocessing(), o, false, file,
		backend)
}

// vgg16 recognises VGG16 under the names of package model, with any number of channels. Files without the
// fully connected layers give the last feature map alone. They therefore accept inputs too small for the
// fully connected layers.
func vgg16(file *weights.File, o *Options, backend kernels.Backend) (*kind, error) {
	c := model.VGG16(1, false)
	out, err := widthsOf(c, file, backend)
	if err != nil {
		return nil, err
	}
	for i := range c.Widths {
		if c.Widths[i] = out[fmt.Sprintf("backbone.conv%d_1", i+1)]; c.Widths[i] < 1 {
			return nil, ErrOther
		}
	}
	const reduction = 32 // pixels along a side of a cell of the last feature map
	cells := (cmp.Or(o.Size, c.Size) + reduction - 1) / reduction
	whole := out["head.fc6"] > 0 && out["head.fc7"] > 0 && cells >= c.FC6Kernel
	if whole {
		c.FC6, c.FC7 = out["head.fc6"], out["head.fc7"]
	} else {
		c.FC6, c.FC7, c.FC6Kernel = 1, 1, 1 // these layers are not read
	}
	return ofModel("VGG16", c, picture.TorchvisionPreprocessing(), o, whole, file, backend)
}

// ofModel is a net of package model. Its classifier is not needed.
func ofModel(name string, c model.Config, pre picture.Preprocessing, o *Options, fc7 bool, file *weights.File,
	backend kernels.Backend) (*kind, error) {
	if err := o.convolutions(name); err != nil {
		return nil, err
	}
	pre = o.pictures(pre)
	c.Size = pre.Crop
	for i := range 3 {
		c.Mean[i], c.Scale[i] = 255*pre.Mean[i], 1/(255*pre.Deviation[i])
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	need := func(p *model.Param) model.Need {
		if strings.HasPrefix(p.Name, "head.") && (!fc7 || !strings.HasPrefix(p.Name, "head.fc6") && !strings.HasPrefix(p.Name,
			"head.fc7")) {
			return model.Unwanted
		}
		return model.Required
	}
	if _, err := model.MatchFile(c, backend, file, need); err != nil {
		return nil, err
	}
	info := Info{Name: name, Pictures: pre, Layers: []Layer{{model.Pool5, c.FeatureWidth()}}}
	if fc7 {
		info.Layers = append(info.Layers, Layer{model.FC7, c.FC7})
	}
	return &kind{info, func(file *weights.File, backend kernels.Backend) (Net, error) {
		if p := backend.Precision(); p == tensor.BF16 && backend.Formats().Maps == tensor.Float32 {
			return nil, fmt.Errorf("precision %s: the CPU computes convolutions in fp32 (choose fp32 or auto): %w", p,
				tensor.ErrPrecision)
		}
		net, err := model.New(c, backend)
		if err != nil {
			return nil, err
		}
		if _, err := net.LoadAs(file, need); err != nil {
			return nil, cmp.Or(err, net.Close())
		}
		return &convNet{info: info, net: net, backend: backend, room: tensor.NewArena(backend)}, nil
	}}, nil
}

// convNet is a net of package model.
type convNet struct {
	info    Info
	net     *model.Net
	backend kernels.Backend
	room    *tensor.Arena
	rows    map[model.Layer]*tensor.Tensor // of the most pictures up to now
	most    int
}

func (n *convNet) Info() *Info { return &n.info }

func (n *convNet) Close() error { return errors.Join(n.room.Close(), n.net.Close()) }

func (n *convNet) Features(pixels *dense.Dense, layers []model.Layer, rows [][]float32) error {
	count := pixels.Shape()[0]
	plan, err := n.net.Plan(count, count, false)
	if err != nil {
		return err
	}
	if err := n.upload(plan, pixels); err != nil {
		return err
	}
	if err := cmp.Or(n.net.Normalize(plan), n.net.Forward(plan, false)); err != nil {
		return err
	}
	if count > n.most {
		if err := n.room.Close(); err != nil {
			return err
		}
		n.rows, n.most = map[model.Layer]*tensor.Tensor{}, count
	}
	for i, layer := range layers {
		if err := n.take(plan, layer, rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// upload makes whole pictures the input of a plan.
func (n *convNet) upload(plan *model.Plan, pixels *dense.Dense) error {
	count, size := plan.Frames, int32(n.info.Pictures.Crop)
	sizes, offsets := make([]int32, 2*count), make([]int32, count+1)
	for i := range sizes {
		sizes[i] = size
	}
	for i := range offsets {
		offsets[i] = int32(i)
	}
	return cmp.Or(n.backend.Upload(plan.Pixels, pixels),
		n.backend.Upload(plan.Sizes, dense.New(dense.WithShape(count, 2), dense.WithBacking(sizes))),
		n.backend.Upload(plan.Flips, dense.New(dense.WithShape(count), dense.WithBacking(make([]uint8, count)))),
		n.backend.Upload(plan.Offsets, dense.New(dense.WithShape(count+1), dense.WithBacking(offsets))))
}

// take copies the output of a layer to the host.
func (n *convNet) take(plan *model.Plan, layer model.Layer, row []float32) error {
	width, err := n.info.Width(layer)
	if err != nil {
		return err
	}
	room := n.rows[layer]
	if room == nil {
		if room, err = n.room.Alloc(tensor.Float32, n.most, width); err != nil {
			return fmt.Errorf("cannot hold %s of %d pictures: %w", layer, n.most, err)
		}
		n.rows[layer] = room
	}
	if room, err = room.Rows(0, plan.Bags); err != nil {
		return err
	}
	values, err := n.net.Extract(room, plan, layer)
	if err != nil {
		return err
	}
	return n.backend.Download(dense.New(dense.WithShape(plan.Bags, width), dense.WithBacking(row)), values)
}
