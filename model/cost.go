package model

// LayerShape is the geometry of one convolution for one frame, for benchmarks and estimates.
type LayerShape struct {
	Name                   string
	H, W, C, K, R, S, Pad  int
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
	add := func(name string, h, w, channels, out, kernel, pad int) {
		shrink := kernel - 1 - 2*pad
		l := LayerShape{
			Name:              name,
			H:                 h,
			W:                 w,
			C:                 channels,
			K:                 out,
			R:                 kernel,
			S:                 kernel,
			Pad:               pad,
			OutH:              h - shrink,
			OutW:              w - shrink,
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
	for i, depth := range c.Depths {
		for j := range depth {
			add(blockName(i, j), h, w, channels, c.Widths[i], 3, 1)
			channels = c.Widths[i]
		}
		if i < len(c.Depths)-1 || c.LastPool {
			h, w = (h+1)/2, (w+1)/2
		}
	}
	for _, fc := range c.head() {
		add(fc.name, h, w, channels, fc.out, fc.kernel, fc.pad)
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
	case FeatureDependent:
		noise = 4 * c.Classes * (c.FeatureWidth() + 1)
	}
	return classifier, noise
}
