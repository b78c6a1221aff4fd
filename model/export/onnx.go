package export

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nmn/format/onnx"
	"nmn/model"
)

// Names of the inputs and outputs of a graph.
const (
	picturesInput = "input"         // N×3×H×W
	featuresInput = "features"      // N×D
	Probabilities = "probabilities" // N×K: p(y=1)
	Observed      = "observed"      // N×K: p(z=1)
)

// GraphOptions configure the inputs and outputs of a graph.
type GraphOptions struct {
	// Observed adds the output p(z=1) of the noise model.
	Observed bool
	// Pixels makes the graph take pixels from 0 to 255 and normalise them. Without it the caller of the graph
	// normalises.
	Pixels bool
	// Fit, Resize and Orientation describe how pictures were read in training. They are written as metadata.
	// Empty ones are left out.
	Fit, Resize, Orientation string
	// Words of the classes and Version of the program go along as metadata.
	Words   []string
	Version string
}

// ONNX writes the computation of a net from pictures or features to probabilities. Every picture is a bag.
// Height and width may differ from training, because the network is fully convolutional. It returns the
// number of tensors that are parameters.
func ONNX(w io.Writer, net *model.Net, o GraphOptions) (int, error) {
	if o.Observed && net.Config().Noise == model.NoNoise {
		return 0, ErrNoNoise
	}
	b := &builder{net: net, config: net.Config(), params: map[string]*model.Param{}}
	for _, p := range net.Params() {
		b.params[p.Name] = p
	}
	words, err := json.Marshal(o.Words)
	if err != nil {
		return 0, err
	}
	b.graph.Name, b.graph.Metadata = "nmn", append(b.describe(o), onnx.Entry{Key: "classes", Text: string(words)})
	var read reading
	if b.config.Input > 0 {
		read = b.features()
	} else {
		read = b.pictures(o.Pixels)
	}
	b.probabilities(read)
	if o.Observed {
		b.observed(read)
	}
	return b.tensors, onnx.Write(w, &b.graph, "nmn", o.Version)
}

// builder puts the graph of a net together.
type builder struct {
	net     *model.Net
	config  model.Config
	params  map[string]*model.Param
	graph   onnx.Graph
	tensors int

	present, absent string // p(y=1) and p(y=0)
}

// reading holds the names of the values in the graph that the net computes from its input.
type reading struct {
	logits   string // N×K, or N×K×h×w of the cells of pictures
	features string // g(X) before it is pooled: N×D, or N×D×h×w
	cells    bool   // whether there are h×w
}

// param adds a parameter as a constant of a shape, by default its filter's shape.
func (b *builder) param(name string, shape ...int) string {
	p := b.params[name]
	if len(shape) == 0 {
		shape = p.FilterShape()
	}
	b.tensors++
	return b.graph.Constant(onnx.Tensor{
		Name:  p.File,
		Shape: shape,
		Data:  func(w io.Writer) error { return b.net.WriteParam(w, p) },
	})
}

// pictures goes from pictures to the map of logits.
func (b *builder) pictures(pixels bool) reading {
	c := b.config
	b.graph.Inputs = []onnx.Value{{Name: picturesInput, Dims: []onnx.Dim{{Name: "batch"}, {Size: 3}, {Name: "height"},
		{Name: "width"}}}}
	x := picturesInput
	if pixels {
		mean, scale := b.graph.Floats("pixels.mean", c.Mean[:], 1, 3, 1, 1),
			b.graph.Floats("pixels.scale", c.Scale[:], 1, 3, 1, 1)
		x = b.graph.Op("Mul", []string{b.graph.Op("Sub", []string{x, mean}), scale})
	}
	features := b.backbone(x)
	x = features
	if c.Residual != model.Plain {
		return reading{b.conv(x, "head.fc", 1, 0, false), features, true}
	}
	x = b.conv(x, "head.fc6", 1, c.FC6Pad, true)
	x = b.conv(x, "head.fc7", 1, 0, true)
	return reading{b.conv(x, "head.fc8", 1, 0, false), features, true}
}

// backbone goes from the input to the last feature map.
func (b *builder) backbone(input string) string {
	maps := []string{input}
	for _, node := range b.config.Backbone() {
		x := maps[node.X]
		switch {
		case node.Kind == model.MaxPool2:
			x = b.maxPool(x, 2, onnx.Attribute{Name: "ceil_mode", Int: 1})
		case node.Kind == model.MaxPool3:
			x = b.maxPool(x, 3, onnx.Attribute{Name: "pads", Ints: []int{1, 1, 1, 1}})
		case node.Shortcut > 0:
			sum := b.graph.Op("Add", []string{b.conv(x, "backbone."+node.Name, node.Stride, node.Pad, false),
				maps[node.Shortcut]})
			x = b.graph.Op("Relu", []string{sum})
		default:
			x = b.conv(x, "backbone."+node.Name, node.Stride, node.Pad, node.ReLU)
		}
		maps = append(maps, x)
	}
	return maps[len(maps)-1]
}

// maxPool adds a pool with stride 2.
func (b *builder) maxPool(x string, side int, more onnx.Attribute) string {
	return b.graph.Op("MaxPool", []string{x}, onnx.Attribute{Name: "kernel_shape", Ints: []int{side, side}},
		onnx.Attribute{Name: "strides", Ints: []int{2, 2}}, more)
}

// conv adds a convolution, and a ReLU if requested.
func (b *builder) conv(x, layer string, stride, pad int, relu bool) string {
	shape := b.params[layer+".weight"].FilterShape()
	attributes := []onnx.Attribute{{Name: "kernel_shape", Ints: shape[2:]},
		{Name: "pads", Ints: []int{pad, pad, pad, pad}}}
	if stride > 1 {
		attributes = append(attributes, onnx.Attribute{Name: "strides", Ints: []int{stride, stride}})
	}
	y := b.graph.Op("Conv", []string{x, b.param(layer + ".weight"), b.param(layer + ".bias")}, attributes...)
	if !relu {
		return y
	}
	return b.graph.Op("Relu", []string{y})
}

// features goes from feature vectors to logits. If the net has a standard, the graph applies it, with missing
// features (NaN) at the mean.
func (b *builder) features() reading {
	c := b.config
	b.graph.Inputs = []onnx.Value{{Name: featuresInput, Dims: []onnx.Dim{{Name: "batch"}, {Size: c.Input}}}}
	x := featuresInput
	if mean, scale := b.net.Standard(); mean != nil {
		m, s := b.graph.Floats("input.mean", mean, 1, c.Input), b.graph.Floats("input.scale", scale, 1, c.Input)
		zero := b.graph.Floats("zero", []float32{0})
		missing := b.graph.Op("IsNaN", []string{x})
		x = b.graph.Op("Mul", []string{b.graph.Op("Sub", []string{x, m}), s})
		x = b.graph.Op("Where", []string{missing, zero, x})
	}
	for i := range c.Hidden {
		x = b.graph.Op("Relu", []string{b.linear(x, fmt.Sprintf("head.fc%d", i+1))})
	}
	return reading{b.linear(x, fmt.Sprintf("head.fc%d", len(c.Hidden)+1)), x, false}
}

func (b *builder) linear(x, layer string) string {
	shape := b.params[layer+".weight"].FilterShape()
	return b.gemm(x, b.param(layer+".weight", shape[0], shape[1]), b.param(layer+".bias"))
}

// gemm adds x·wᵀ + bias.
func (b *builder) gemm(x, w, bias string) string {
	return b.graph.Op("Gemm", []string{x, w, bias}, onnx.Attribute{Name: "transB", Int: 1})
}

// describe describes the input in the metadata.
func (b *builder) describe(o GraphOptions) []onnx.Entry {
	c := b.config
	if c.Input > 0 {
		return []onnx.Entry{{Key: "input", Text: "features as they are in files; the graph brings them to the scale " +
			"of the training data if the network stores one"}}
	}
	list := func(values [3]float32) string { return strings.Trim(fmt.Sprint(values), "[]") }
	input := "RGB, (pixel - mean) * scale for pixels from 0 to 255"
	if o.Pixels {
		input = "RGB, pixels from 0 to 255"
	}
	width := c.Width
	if width == 0 {
		width = c.Size
	}
	var deviation [3]float32
	for i, scale := range c.Scale {
		deviation[i] = 1 / scale
	}
	entries := []onnx.Entry{
		{Key: "input", Text: input}, {Key: "mean", Text: list(c.Mean)}, {Key: "scale", Text: list(c.Scale)},
		{Key: "deviation", Text: list(deviation)},
		{Key: "trained_height", Text: fmt.Sprint(c.Size)}, {Key: "trained_width", Text: fmt.Sprint(width)},
	}
	if c.Residual != model.Plain {
		entries = append(entries, onnx.Entry{Key: foldedKey, Text: foldedText})
	}
	for _, e := range []onnx.Entry{{Key: "fit", Text: o.Fit}, {Key: "resize", Text: o.Resize},
		{Key: "orientation", Text: o.Orientation}} {
		if e.Text != "" {
			entries = append(entries, e)
		}
	}
	return entries
}
