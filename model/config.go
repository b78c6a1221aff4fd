package model

import (
	"fmt"
	"slices"

	"nmn/kernels/pool"
)

// NoiseMode selects the noise model between true and observed labels.
type NoiseMode string

// Noise models (the paper, section 3.2).
const (
	NoNoise            NoiseMode = "none" // the MLCN alone: observed labels are taken as true
	FeatureIndependent NoiseMode = "fi"   // O = b
	FeatureDependent   NoiseMode = "fd"   // O = U g(X) + b
)

// Config describes a network. The zero value is not useful: start from VGG16 or Scenes.
type Config struct {
	Classes int `yaml:"classes" json:"classes"`
	// Size is the height of the input in pixels, and its width unless Width is set.
	Size  int `yaml:"size" json:"size"`
	Width int `yaml:"width,omitempty" json:"width,omitempty"`
	// Residual makes the net a residual net with these blocks; empty is VGG.
	Residual Residual `yaml:"residual,omitempty" json:"residual,omitempty"`
	// Depths and Widths give, for each block, the number of 3×3 convolutions and their channels. For a
	// residual net they give, for each stage, the number of blocks and the channels of their inner
	// convolutions. Its stem has the channels of the first stage.
	Depths []int `yaml:"depths" json:"depths"`
	Widths []int `yaml:"widths" json:"widths"`
	// LastPool ends the last block with a max pool, as all other blocks end. LastPool and FC6 to Dropout
	// belong to VGG: a residual net has one layer after its stages.
	LastPool bool `yaml:"last_pool" json:"last_pool"`
	// FC6 and FC7 are the channels of the convolutions that replace the fully connected layers. fc6 has
	// FC6Kernel×FC6Kernel cells and padding FC6Pad, fc7 and fc8 are 1×1.
	FC6       int     `yaml:"fc6" json:"fc6"`
	FC7       int     `yaml:"fc7" json:"fc7"`
	FC6Kernel int     `yaml:"fc6_kernel" json:"fc6_kernel"`
	FC6Pad    int     `yaml:"fc6_pad" json:"fc6_pad"`
	Dropout   float64 `yaml:"dropout" json:"dropout"` // after all fully connected layers but the last, in [0, 1)
	// Input is the length of the feature vectors that the net takes instead of pictures, 0 for pictures. A
	// net on features has no blocks. Hidden are the widths of its layers before the last, instead of fc6 and
	// fc7. Without any it is linear.
	Input  int   `yaml:"input,omitempty" json:"input,omitempty"`
	Hidden []int `yaml:"hidden,flow,omitempty" json:"hidden,omitempty"`
	// Standardised is set if features come on the scale of the training data, which weight files keep.
	Standardised bool `yaml:"standardised,omitempty" json:"standardised,omitempty"`
	// MIL makes every cell of the score map an instance, or every vector of a bag for a net on features, and
	// joins instances by noisy-or. Without it they are averaged to one logit.
	MIL bool `yaml:"mil" json:"mil"`
	// Exclusive is set if each bag has exactly one of the classes. Probabilities are then a softmax over the
	// classes, and the noise model is a held transition matrix. It has no MIL.
	Exclusive bool `yaml:"exclusive,omitempty" json:"exclusive,omitempty"`
	// Noise, NoisePool and NoiseDetach describe the noise model: its kind, how g(X) pools the last
	// feature map over the cells of a bag, and whether the gradient of g stops there.
	Noise       NoiseMode `yaml:"noise" json:"noise"`
	NoisePool   string    `yaml:"noise_pool" json:"noise_pool"` // mean or max
	NoiseDetach bool      `yaml:"noise_detach" json:"noise_detach"`
	// Mean and Scale normalise pixels: (pixel - Mean) · Scale, per channel R, G, B.
	Mean  [3]float32 `yaml:"mean,flow" json:"mean"`
	Scale [3]float32 `yaml:"scale,flow" json:"scale"`
}

// VGG16 is the net of the paper: VGG16 with its fully connected layers as convolutions. With MIL its
// input is 565 pixels, else 224.
func VGG16(classes int, mil bool) Config {
	c := Config{
		Classes: classes, Size: 224, MIL: mil, Noise: NoNoise, NoisePool: pool.Mean.String(),
		Depths: []int{2, 2, 3, 3, 3}, Widths: []int{64, 128, 256, 512, 512}, LastPool: true,
		FC6: 4096, FC7: 4096, FC6Kernel: 7, Dropout: .5,
		Mean: [3]float32{123.68, 116.779, 103.939}, Scale: [3]float32{1, 1, 1},
	}
	if mil {
		c.Size = 565
	}
	return c
}

// Scenes is the small net for 48-pixel pictures. With MIL the last pool is left out, so that 4×4
// instances remain.
func Scenes(classes int, mil bool) Config {
	const half = 127.5
	return Config{
		Classes: classes, Size: 48, MIL: mil, Noise: NoNoise, NoisePool: pool.Mean.String(),
		Depths: []int{1, 1, 1, 1}, Widths: []int{16, 32, 64, 128}, LastPool: !mil,
		FC6: 256, FC7: 256, FC6Kernel: 3,
		Mean: [3]float32{half, half, half}, Scale: [3]float32{4. / 255, 4. / 255, 4. / 255},
	}
}

// MLP is a net on feature vectors of a width: a 1×1 picture with that number of channels, hidden layers with
// ReLU and dropout .5, and one logit for each class. Without hidden layers it is linear. If it has a
// feature-dependent noise model, g(X) is the last hidden layer, or the features themselves.
func MLP(width, classes int, hidden []int) Config {
	return Config{
		Classes:   classes,
		Size:      1,
		Input:     width,
		Hidden:    slices.Clone(hidden),
		Dropout:   .5,
		Noise:     NoNoise,
		NoisePool: pool.Mean.String(),
	}
}

// Narrow multiplies the channels of all hidden layers by a factor, rounded to a multiple of 8 and at least 8.
func (c Config) Narrow(factor float64) Config {
	scale := func(channels int) int { return max(8, int(float64(channels)*factor/8+.5)*8) }
	scaled := func(all []int) []int {
		widths := make([]int, len(all))
		for i, w := range all {
			widths[i] = scale(w)
		}
		return widths
	}
	if c.Input > 0 {
		c.Hidden = scaled(c.Hidden)
		return c
	}
	c.Widths = scaled(c.Widths)
	if c.Residual == Plain {
		c.FC6, c.FC7 = scale(c.FC6), scale(c.FC7)
	}
	return c
}

// Validate returns an error that names the first field that is out of range.
func (c Config) Validate() error {
	positive := func(field string, value int) error {
		if value < 1 || value > 1<<20 {
			return fmt.Errorf("model: %s is %d, want 1 to %d", field, value, 1<<20)
		}
		return nil
	}
	if err := c.validateInput(); err != nil {
		return err
	}
	for _, f := range c.sizes() {
		if err := positive(f.name, f.value); err != nil {
			return err
		}
	}
	switch {
	case c.FC6Pad < 0 || c.FC6Pad > 0 && c.FC6Pad >= c.FC6Kernel:
		return fmt.Errorf("model: fc6-pad is %d, want 0 to %d (less than fc6-kernel)", c.FC6Pad, c.FC6Kernel-1)
	case !(c.Dropout >= 0 && c.Dropout < 1):
		return fmt.Errorf("model: dropout is %v, want at least 0 and less than 1", c.Dropout)
	case c.Noise != NoNoise && c.Noise != FeatureIndependent && c.Noise != FeatureDependent:
		return fmt.Errorf("model: noise is %q, want none, fi or fd", c.Noise)
	case c.Exclusive && (c.MIL || c.Noise == FeatureDependent || c.Classes < 2):
		return fmt.Errorf("model: classes that exclude each other need at least 2 of them, no mil and a noise model fi "+
			"or none: classes is %d, mil %t and noise %q", c.Classes, c.MIL, c.Noise)
	case c.NoisePool != pool.Mean.String() && c.NoisePool != pool.Max.String():
		return fmt.Errorf("model: noise-pool is %q, want mean or max", c.NoisePool)
	}
	if c.Width < 0 {
		return fmt.Errorf("model: width is %d, want 0 (the same as size) or more", c.Width)
	}
	if h, w := c.featureGrid(); c.Input == 0 && c.Residual == Plain && min(h, w)+2*c.FC6Pad < c.FC6Kernel {
		return fmt.Errorf("model: an input of %d×%d pixels leaves %d×%d cells before fc6, which needs %d: raise size "+
			"or lower fc6-kernel",
			c.Size, c.width(), h, w, c.FC6Kernel-2*c.FC6Pad)
	}
	return nil
}

// validateInput checks the fields that only nets on pictures, only nets on features, or only VGG has.
func (c Config) validateInput() error {
	switch {
	case c.Residual != Plain && c.Residual != Basic && c.Residual != Bottleneck:
		return fmt.Errorf("model: residual is %q, want basic or bottleneck, or nothing for VGG", c.Residual)
	case c.Residual != Plain && c.Input != 0:
		return fmt.Errorf("model: a net on features has no residual blocks, and residual is %q", c.Residual)
	case c.Residual != Plain && (c.LastPool || c.FC6 != 0 || c.FC7 != 0 || c.FC6Kernel != 0 || c.FC6Pad != 0 ||
		c.Dropout != 0):
		return fmt.Errorf("model: a residual net has one layer after its stages: last_pool %t, fc6 %d, fc7 %d, fc6_kernel "+
			"%d, fc6_pad %d and dropout %g are for VGG", c.LastPool, c.FC6, c.FC7, c.FC6Kernel, c.FC6Pad, c.Dropout)
	case c.Input == 0 && (len(c.Depths) == 0 || len(c.Depths) != len(c.Widths)):
		return fmt.Errorf("model: depths %v and widths %v need one entry for each block", c.Depths, c.Widths)
	case c.Input == 0 && (len(c.Hidden) > 0 || c.Standardised):
		return fmt.Errorf(
			"model: hidden %v and standardised %t are for a net on features (input), this one takes pictures",
			c.Hidden, c.Standardised)
	case c.Input != 0 && (len(c.Depths)+len(c.Widths) > 0 || c.Size != 1 || c.width() != 1):
		return fmt.Errorf(
			"model: a net on features has no blocks and no cells: depths %v, widths %v, size %d×%d",
			c.Depths, c.Widths, c.Size, c.width())
	}
	return nil
}

// size is a number of a configuration that must be positive.
type size struct {
	name  string
	value int
}

func (c Config) sizes() []size {
	all := []size{{"classes", c.Classes}, {"size", c.Size}}
	if c.Input != 0 {
		all = append(all, size{"input", c.Input})
		for i, width := range c.Hidden {
			all = append(all, size{fmt.Sprintf("hidden[%d]", i), width})
		}
		return all
	}
	if c.Residual == Plain {
		all = append(all, size{"fc6", c.FC6}, size{"fc7", c.FC7}, size{"fc6-kernel", c.FC6Kernel})
	}
	for i := range c.Depths {
		all = append(all, size{fmt.Sprintf("depths[%d]", i), c.Depths[i]},
			size{fmt.Sprintf("widths[%d]", i), c.Widths[i]})
	}
	return all
}

func (c Config) width() int {
	if c.Width > 0 {
		return c.Width
	}
	return c.Size
}

// channels is the number of channels of the input.
func (c Config) channels() int {
	if c.Input > 0 {
		return c.Input
	}
	return 3
}

// headLayer is a fully connected layer, as a convolution.
type headLayer struct {
	name, file  string // file is its name in weight files
	out         int    // channels
	kernel, pad int
}

// head lists the layers after the blocks: fc6, fc7 and fc8 of VGG, fc of a residual net, or the hidden layers of a
// net on features and the one that gives the logits, fc1, fc2, ...
func (c Config) head() []headLayer {
	if c.Residual != Plain {
		return []headLayer{{name: "fc", file: "fc", out: c.Classes, kernel: 1, pad: 0}}
	}
	if c.Input == 0 {
		return []headLayer{
			{name: "fc6", file: "classifier.0", out: c.FC6, kernel: c.FC6Kernel, pad: c.FC6Pad},
			{name: "fc7", file: "classifier.3", out: c.FC7, kernel: 1, pad: 0},
			{name: "fc8", file: "classifier.6", out: c.Classes, kernel: 1, pad: 0},
		}
	}
	var all []headLayer
	for i, width := range append(slices.Clone(c.Hidden), c.Classes) {
		name := fmt.Sprintf("fc%d", i+1)
		all = append(all, headLayer{name: name, file: "head." + name, out: width, kernel: 1, pad: 0})
	}
	return all
}

// Classifier is the name of the layer that gives the logits, as its parameters have it: head.fc8, head.fc, ...
func (c Config) Classifier() string {
	head := c.head()
	return "head." + head[len(head)-1].name
}

// tap is the layer of the head whose input the noise model sees as g(X): the first one after blocks, and
// the last one of a net on features.
func (c Config) tap() int {
	if c.Input > 0 {
		return len(c.Hidden)
	}
	return 0
}

// Grid is the height and width of the score map.
func (c Config) Grid() (h, w int) {
	h, w = c.featureGrid()
	first := c.head()[0]
	shrink := first.kernel - 1 - 2*first.pad
	return h - shrink, w - shrink
}

// Instances is the number of cells of the score map: the instances of one frame.
func (c Config) Instances() int {
	h, w := c.Grid()
	return h * w
}

// FeatureWidth is D, the channels of the feature map that the noise model sees.
func (c Config) FeatureWidth() int {
	switch {
	case c.Input == 0:
		return c.Widths[len(c.Widths)-1] * c.Residual.expansion()
	case len(c.Hidden) > 0:
		return c.Hidden[len(c.Hidden)-1]
	}
	return c.Input
}

func (c Config) poolKind() pool.Kind {
	if c.NoisePool == pool.Max.String() {
		return pool.Max
	}
	return pool.Mean
}
