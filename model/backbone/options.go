package backbone

import (
	"cmp"
	"fmt"
	"math"

	"nmn/loader/picture"
	"nmn/model/vit"
)

// Options give properties that the tensors of a file do not show. The zero value is the published net of its
// layout.
type Options struct {
	// Size is the height and width of the input in pixels, 0 for that which the net was trained with.
	Size int
	// Resize is the size of a picture's shorter side before the middle is cut out, at least Size. 0 keeps the
	// layout's share.
	Resize int
	// Mean and Deviation apply to values from 0 to 1 in red, green and blue: three numbers each, or none.
	Mean, Deviation []float32
	// GELU is the form of the activation, and Heads how many the attention has, of a transformer.
	GELU  vit.GELU
	Heads int
}

// Validate returns an error that names the first field that is out of range for any net.
func (o *Options) Validate() error {
	for _, f := range []struct {
		key   string
		value int
	}{{"net.input_size", o.Size}, {"net.backbone_resize", o.Resize}} {
		if f.value < 0 || f.value > picture.MaxCrop {
			return fmt.Errorf("`%s` is %d, want 1 to %d pixels", f.key, f.value, picture.MaxCrop)
		}
	}
	for _, f := range []struct {
		key    string
		values []float32
		above  bool
	}{{"net.backbone_mean", o.Mean, false}, {"net.backbone_deviation", o.Deviation, true}} {
		if len(f.values) != 0 && len(f.values) != 3 {
			return fmt.Errorf("`%s` has %d numbers, want three: of red, green and blue", f.key, len(f.values))
		}
		for _, v := range f.values {
			// Means of 123 and deviations of 58 belong to values from 0 to 255.
			if !(v >= 0) || f.above && v == 0 || v > 2 || math.IsNaN(float64(v)) {
				return fmt.Errorf("`%s` is %v, want numbers of pixel values from 0 to 1, as 0.5,0.5,0.5", f.key, f.values)
			}
		}
	}
	if o.GELU != "" {
		if err := o.GELU.Validate(); err != nil {
			return fmt.Errorf("`net.backbone_gelu`: %w", err)
		}
	}
	if o.Heads < 0 || o.Heads > 1<<16 {
		return fmt.Errorf("`net.backbone_heads` is %d, want at least 1", o.Heads)
	}
	return nil
}

// pictures returns the preparation of pictures with these options, starting from the layout's preparation
// pre.
func (o *Options) pictures(pre picture.Preprocessing) picture.Preprocessing {
	if o.Size > 0 {
		pre = pre.At(o.Size)
	}
	pre.Resize = cmp.Or(o.Resize, pre.Resize)
	copy(pre.Mean[:], o.Mean)
	copy(pre.Deviation[:], o.Deviation)
	return pre
}

// Transformer is a transformer's configuration with the options.
func (o *Options) Transformer(c vit.Config) vit.Config {
	if o.Size > 0 {
		c = c.WithSize(o.Size)
	}
	resized := *o
	resized.Size = 0
	c.Pictures = resized.pictures(c.Pictures)
	c.GELU, c.Heads = cmp.Or(o.GELU, c.GELU), cmp.Or(o.Heads, c.Heads)
	return c
}

// convolutions refuses options that a net of convolutions has no use for.
func (o *Options) convolutions(name string) error {
	switch {
	case o.GELU != "":
		return fmt.Errorf("%s has no GELU: leave out `net.backbone_gelu`", name)
	case o.Heads != 0:
		return fmt.Errorf("%s has no attention: leave out `net.backbone_heads`", name)
	}
	return nil
}
