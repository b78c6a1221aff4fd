package vit

import (
	"errors"
	"fmt"

	"nmn/loader/picture"
)

// Config describes a vision transformer and its input. Recognise makes one. Before New you may change the
// fields Size, Heads, GELU, Epsilon and the fields of pictures. The others follow from the tensors.
type Config struct {
	Layout Layout `json:"layout"`

	Patch int `json:"patch"` // height and width of a patch in pixels
	Width int `json:"width"` // D, numbers of a token
	Depth int `json:"depth"` // blocks
	// Heads of the attention. Tensors do not show their number: it is 0 if no published net has this width.
	Heads  int `json:"heads"`
	Hidden int `json:"hidden"` // width of the layer inside the MLP of a block
	// Registers are tokens for no patch, in addition to the class token (Darcet et al., 2024).
	Registers int `json:"registers"`
	// PatchBias, PreNorm and LayerScale are set if the net has these parts: a bias of the patch embedding, a
	// norm before the blocks (CLIP), factors on the output of a block (DINOv2).
	PatchBias  bool `json:"patch_bias"`
	PreNorm    bool `json:"pre_norm"`
	LayerScale bool `json:"layer_scale"`
	// Projection is the width of CLIP's embedding, 0 for none.
	Projection int     `json:"projection,omitempty"`
	GELU       GELU    `json:"gelu"`
	Epsilon    float32 `json:"epsilon"` // of the layer norms
	// Grid is the number of patches along each side that there are position embeddings for, and Positioned how many
	// of the tokens before the patches have one too: 0, 1 (the class token) or all.
	Grid       int           `json:"grid"`
	Positioned int           `json:"positioned"`
	Resampling Interpolation `json:"interpolation"` // of position embeddings for other grids

	// Size is the height and width of the input in pixels, multiples of Patch.
	Size [2]int `json:"size"`
	// Pictures is the preparation of a picture before that. Its Crop is the Size of a square input.
	Pictures picture.Preprocessing `json:"pictures"`
}

// GELU names a form of the activation.
type GELU string

// The forms, as package transformer has them.
const (
	Exact GELU = "exact"
	Tanh  GELU = "tanh"
	Quick GELU = "quick" // x·sigmoid(1.702 x), with which OpenAI trained CLIP
)

// Validate refuses other forms.
func (g GELU) Validate() error {
	if g != Exact && g != Tanh && g != Quick {
		return fmt.Errorf("vit: gelu is %q, want %s, %s or %s", g, Exact, Tanh, Quick)
	}
	return nil
}

// Layer selects the tokens after the last norm that features are computed from.
type Layer string

// Layers.
const (
	Class     Layer = "cls"       // the class token
	Mean      Layer = "mean"      // the mean of the tokens of patches
	ClassMean Layer = "cls+mean"  // both, side by side
	Embedding Layer = "embedding" // the class token projected to where CLIP compares pictures and texts
)

// layers lists them.
var layers = [...]Layer{Class, Mean, ClassMean, Embedding}

// ErrSize is wrapped by errors about sizes of the input that a net cannot have.
var ErrSize = errors.New("not a size that this net takes")

// LayerWidth is how many numbers a layer has for each picture.
func (c Config) LayerWidth(l Layer) (int, error) {
	switch l {
	case Class, Mean:
		return c.Width, nil
	case ClassMean:
		return 2 * c.Width, nil
	case Embedding:
		if c.Projection == 0 {
			return 0, fmt.Errorf("vit: no %s: these weights (%s) have no projection, take one of %v", l, c.Layout, layers[:3])
		}
		return c.Projection, nil
	}
	return 0, fmt.Errorf("vit: layer %q cannot be extracted, want one of %v", l, layers)
}

// WithSize is the configuration for square inputs of another size in pixels. Pictures are resized in proportion.
func (c Config) WithSize(size int) Config {
	c.Pictures, c.Size = c.Pictures.At(size), [2]int{size, size}
	return c
}

// Validate returns an error that names the first field that is out of range.
func (c Config) Validate() error {
	const most = 1 << 16
	if c.Heads == 0 {
		return fmt.Errorf("vit: the number of heads is known only for widths that are multiples of 64, not for %d: set "+
			"it (`net.backbone_heads`)", c.Width)
	}
	for _, f := range []struct {
		name         string
		value, least int
	}{
		{"patch", c.Patch, 1}, {"width", c.Width, 1}, {"depth", c.Depth, 0}, {"heads", c.Heads, 1}, {"hidden", c.Hidden, 1},
		{"registers", c.Registers, 0}, {"projection", c.Projection, 0}, {"grid", c.Grid, 1}, {"positioned", c.Positioned, 0},
	} {
		if f.value < f.least || f.value > most {
			return fmt.Errorf("vit: %s is %d, want %d to %d", f.name, f.value, f.least, most)
		}
	}
	switch {
	case c.Width%c.Heads != 0:
		return fmt.Errorf("vit: %d heads do not divide a width of %d", c.Heads, c.Width)
	case c.Positioned != 0 && c.Positioned != 1 && c.Positioned != 1+c.Registers:
		return fmt.Errorf("vit: %d of %d tokens before the patches have a position", c.Positioned, 1+c.Registers)
	case !(c.Epsilon > 0 && c.Epsilon < 1):
		return fmt.Errorf("vit: epsilon is %v, want more than 0 and less than 1", c.Epsilon)
	}
	if err := c.GELU.Validate(); err != nil {
		return err
	}
	if err := c.Resampling.validate(); err != nil {
		return err
	}
	if err := c.Pictures.Validate(); err != nil {
		return fmt.Errorf("vit: %w", err)
	}
	return c.validateSize()
}

// validateSize refuses inputs that cannot be cut into patches.
func (c Config) validateSize() error {
	const most = 1 << 14
	for i, side := range [...]string{"height", "width"} {
		switch v := c.Size[i]; {
		case v < c.Patch:
			return fmt.Errorf("vit: a picture with a %s of %d pixels is smaller than a patch of %d: %w", side, v, c.Patch,
				ErrSize)
		case v%c.Patch != 0:
			return fmt.Errorf("vit: patches of %d pixels do not divide a %s of %d (%d or %d would do): %w", c.Patch, side, v,
				v/c.Patch*c.Patch, (v/c.Patch+1)*c.Patch, ErrSize)
		case v > most:
			return fmt.Errorf("vit: a %s of %d pixels, at most %d: %w", side, v, most, ErrSize)
		}
	}
	return nil
}

// patches is the number of patches along each side of the input.
func (c Config) patches() (h, w int) { return c.Size[0] / c.Patch, c.Size[1] / c.Patch }

// prefix is the number of tokens before the patch tokens.
func (c Config) prefix() int { return 1 + c.Registers }

// Tokens is the number of tokens of a picture: the class token, registers and patches.
func (c Config) Tokens() int {
	h, w := c.patches()
	return c.prefix() + h*w
}
