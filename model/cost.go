package model

// LayerShape is the geometry of one convolution for one frame, for benchmarks and estimates.
type LayerShape struct {
	Name                   string
	H, W, C, K, R, S, Pad  int
	Stride                 int
	OutH, OutW             int
	Parameters             int
	NeedsDataGradient      bool
	ForwardFLOP, TrainFLOP float64 // multiply and add counted apart, bias and ReLU left out
}

// Layers lists the convolutions from the input to the classes.
func (n *Net) Layers() []LayerShape { return n.config.Layers() }

// Layers lists the convolutions of a network of this configuration, without making it.
func (c Config) Layers() []LayerShape {
	var all []LayerShape
	add := func(name string, h, w, channels, out, kernel, pad, stride int) {
		l := LayerShape{
			Name:              name,
			H:                 h,
			W:                 w,
			C:                 channels,
			K:                 out,
			R:                 kernel,
			S:                 kernel,
			Pad:               pad,
			Stride:            stride,
			OutH:              (h+2*pad-kernel)/stride + 1,
			OutW:              (w+2*pad-kernel)/stride + 1,
			Parameters:        out * (kernel*kernel*channels + 1),
			NeedsDataGradient: len(all) > 0,
		}
		l.ForwardFLOP = 2 * float64(l.OutH*l.OutW) * float64(kernel*kernel) * float64(channels) * float64(out)
		l.TrainFLOP = 3 * l.ForwardFLOP
		if !l.NeedsDataGradient {
			l.TrainFLOP = 2 * l.ForwardFLOP
		}
		all = append(all, l)
	}
	h, w, channels := c.Size, c.width(), c.channels()
	nodes := c.Backbone()
	for _, node := range nodes {
		if node.X > 0 {
			x := nodes[node.X-1]
			h, w, channels = x.H, x.W, x.C
		}
		if node.Kind == Convolution {
			add(node.Name, h, w, channels, node.C, node.Kernel, node.Pad, node.Stride)
		}
	}
	if len(nodes) > 0 {
		last := nodes[len(nodes)-1]
		h, w, channels = last.H, last.W, last.C
	}
	for _, fc := range c.head() {
		add(fc.name, h, w, channels, fc.out, fc.kernel, fc.pad, 1)
		h, w = c.Grid()
		channels = fc.out
	}
	return all
}

// Parameters counts the parameters of the classifier and of the noise model.
func (c Config) Parameters() (classifier, noise int) {
	for _, l := range c.Layers() {
		classifier += l.Parameters
	}
	switch c.Noise {
	case FeatureIndependent:
		noise = 4 * c.Classes
		if c.Exclusive {
			noise = c.Classes * c.Classes
		}
	case FeatureDependent:
		noise = 4 * c.Classes * (c.FeatureWidth() + 1)
	}
	return classifier, noise
}
