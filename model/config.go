package model

import (
	"fmt"

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
	// Depths and Widths give, for each block, the number of 3×3 convolutions and their channels.
	Depths []int `yaml:"depths" json:"depths"`
	Widths []int `yaml:"widths" json:"widths"`
	// LastPool ends the last block with a max pool as all others end.
	LastPool bool `yaml:"last_pool" json:"last_pool"`
	// FC6 and FC7 are the channels of the convolutions that stand for the fully connected layers;
	// fc6 has FC6Kernel×FC6Kernel cells and padding FC6Pad, fc7 and fc8 are 1×1.
	FC6       int     `yaml:"fc6" json:"fc6"`
	FC7       int     `yaml:"fc7" json:"fc7"`
	FC6Kernel int     `yaml:"fc6_kernel" json:"fc6_kernel"`
	FC6Pad    int     `yaml:"fc6_pad" json:"fc6_pad"`
	Dropout   float64 `yaml:"dropout" json:"dropout"` // after fc6 and fc7, in [0, 1)
	// MIL makes every cell of the score map an instance and joins them by noisy-or; without it the
	// map is averaged to one logit.
	MIL bool `yaml:"mil" json:"mil"`
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

// Narrow multiplies the channels of all hidden layers by a factor, rounded to a multiple of 8 and at
// least 8.
func (c Config) Narrow(factor float64) Config {
	scale := func(channels int) int { return max(8, int(float64(channels)*factor/8+.5)*8) }
	widths := make([]int, len(c.Widths))
	for i, w := range c.Widths {
		widths[i] = scale(w)
	}
	c.Widths, c.FC6, c.FC7 = widths, scale(c.FC6), scale(c.FC7)
	return c
}

// Validate names the first field that is out of range.
func (c Config) Validate() error {
	positive := func(field string, value int) error {
		if value < 1 || value > 1<<20 {
			return fmt.Errorf("model: %s is %d, want 1 to %d", field, value, 1<<20)
		}
		return nil
	}
	if len(c.Depths) == 0 || len(c.Depths) != len(c.Widths) {
		return fmt.Errorf("model: depths %v and widths %v need one entry for each block", c.Depths, c.Widths)
	}
	fields := []struct {
		name  string
		value int
	}{{"classes", c.Classes}, {"size", c.Size}, {"fc6", c.FC6}, {"fc7", c.FC7}, {"fc6-kernel", c.FC6Kernel}}
	for i := range c.Depths {
		fields = append(fields, struct {
			name  string
			value int
		}{fmt.Sprintf("depths[%d]", i), c.Depths[i]}, struct {
			name  string
			value int
		}{fmt.Sprintf("widths[%d]", i), c.Widths[i]})
	}
	for _, f := range fields {
		if err := positive(f.name, f.value); err != nil {
			return err
		}
	}
	switch {
	case c.FC6Pad < 0 || c.FC6Pad >= c.FC6Kernel:
		return fmt.Errorf("model: fc6-pad is %d, want 0 to %d (less than fc6-kernel)", c.FC6Pad, c.FC6Kernel-1)
	case !(c.Dropout >= 0 && c.Dropout < 1):
		return fmt.Errorf("model: dropout is %v, want at least 0 and less than 1", c.Dropout)
	case c.Noise != NoNoise && c.Noise != FeatureIndependent && c.Noise != FeatureDependent:
		return fmt.Errorf("model: noise is %q, want none, fi or fd", c.Noise)
	case c.NoisePool != pool.Mean.String() && c.NoisePool != pool.Max.String():
		return fmt.Errorf("model: noise-pool is %q, want mean or max", c.NoisePool)
	}
	if c.Width < 0 {
		return fmt.Errorf("model: width is %d, want 0 (the same as size) or more", c.Width)
	}
	if h, w := c.featureGrid(); min(h, w)+2*c.FC6Pad < c.FC6Kernel {
		return fmt.Errorf("model: an input of %d×%d pixels leaves %d×%d cells before fc6, which needs %d: raise size or lower fc6-kernel",
			c.Size, c.width(), h, w, c.FC6Kernel-2*c.FC6Pad)
	}
	return nil
}

func (c Config) width() int {
	if c.Width > 0 {
		return c.Width
	}
	return c.Size
}

// featureGrid is the height and width of the last feature map.
func (c Config) featureGrid() (h, w int) {
	h, w = c.Size, c.width()
	for i := range c.Depths {
		if i < len(c.Depths)-1 || c.LastPool {
			h, w = (h+1)/2, (w+1)/2
		}
	}
	return h, w
}

// Grid is the height and width of the score map.
func (c Config) Grid() (h, w int) {
	h, w = c.featureGrid()
	shrink := c.FC6Kernel - 1 - 2*c.FC6Pad
	return h - shrink, w - shrink
}

// Instances is the number of cells of the score map: the instances of one frame.
func (c Config) Instances() int {
	h, w := c.Grid()
	return h * w
}

// FeatureWidth is D, the channels of the last feature map.
func (c Config) FeatureWidth() int { return c.Widths[len(c.Widths)-1] }

func (c Config) poolKind() pool.Kind {
	if c.NoisePool == pool.Max.String() {
		return pool.Max
	}
	return pool.Mean
}
