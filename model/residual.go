package model

import (
	"fmt"
	"slices"

	"nmn/kernels/pool"
)

// Residual is the kind of the blocks of a backbone.
type Residual string

// The kinds of blocks.
const (
	Plain      Residual = ""           // VGG's convolutions, one after the other
	Basic      Residual = "basic"      // of ResNet-18 and 34: two 3×3 convolutions and a shortcut
	Bottleneck Residual = "bottleneck" // of ResNet-50 and deeper: 1×1, 3×3, 1×1 and a shortcut
)

// expansion is how many times the channels of its inner convolutions a block gives.
func (r Residual) expansion() int {
	if r == Bottleneck {
		return 4
	}
	return 1
}

// resNets are the known residual nets, by the number of their layers.
var resNets = []struct {
	name     string
	residual Residual
	depths   []int
}{
	{"resnet18", Basic, []int{2, 2, 2, 2}},
	{"resnet34", Basic, []int{3, 4, 6, 3}},
	{"resnet50", Bottleneck, []int{3, 4, 6, 3}},
	{"resnet101", Bottleneck, []int{3, 4, 23, 3}},
}

// ResNets lists the names that ResNet accepts.
func ResNets() []string {
	names := make([]string, len(resNets))
	for i, known := range resNets {
		names[i] = known.name
	}
	return names
}

// ResNet is a residual net (He et al., "Deep Residual Learning for Image Recognition", 2016) with a name of
// ResNets, in torchvision's variant: if a bottleneck halves the map, its 3×3 convolution has the stride.
// Batch normalisation is folded into the convolutions, and each has a bias instead. The head is one 1×1
// convolution on the map of the last stage. With MIL every cell of that map is an instance and the input has
// 448 pixels (14×14 cells). Without MIL the logits of the 7×7 cells of 224 pixels are averaged. This equals
// the linear layer on averaged features that the net usually has.
func ResNet(name string, classes int, mil bool) (Config, error) {
	for _, known := range resNets {
		if known.name != name {
			continue
		}
		c := Config{
			Classes: classes, Size: 224, MIL: mil, Noise: NoNoise, NoisePool: pool.Mean.String(),
			Residual: known.residual, Depths: slices.Clone(known.depths), Widths: []int{64, 128, 256, 512},
			Mean:  [3]float32{.485 * 255, .456 * 255, .406 * 255},
			Scale: [3]float32{1 / (.229 * 255), 1 / (.224 * 255), 1 / (.225 * 255)},
		}
		if mil {
			c.Size = 448
		}
		return c, nil
	}
	return Config{}, fmt.Errorf("model: there is no residual net %q, want one of %v", name, ResNets())
}

// ResNetName returns the known residual net with the blocks of a configuration, of any width; empty for none.
func (c Config) ResNetName() string {
	for _, known := range resNets {
		if known.residual == c.Residual && slices.Equal(known.depths, c.Depths) {
			return known.name
		}
	}
	return ""
}

// residual adds the stem, its pool and the stages.
func (g *graph) residual(c Config) {
	x := g.conv(0, Node{Name: "conv1", File: "conv1", C: c.Widths[0], Kernel: 7, Stride: 2, Pad: 3, ReLU: true})
	x = g.pool(x, MaxPool3)
	for i, depth := range c.Depths {
		for j := range depth {
			stride := 1
			if i > 0 && j == 0 {
				stride = 2
			}
			x = g.block(x, fmt.Sprintf("layer%d.%d.", i+1, j), c.Residual, c.Widths[i], stride)
		}
	}
}

// block adds a block on map x. Its shortcut is x itself, or a 1×1 convolution of it if the block changes the
// shape. That convolution comes right before the convolution that adds it.
func (g *graph) block(x int, prefix string, kind Residual, width, stride int) int {
	conv := func(name string, kernel, stride, channels int) Node {
		return Node{Name: prefix + name, File: prefix + name, C: channels, Kernel: kernel, Stride: stride, Pad: kernel / 2,
			ReLU: true}
	}
	channels := width * kind.expansion()
	var inner []Node
	last := conv("conv2", 3, 1, channels)
	if kind == Bottleneck {
		inner = []Node{conv("conv1", 1, 1, width), conv("conv2", 3, stride, width)}
		last = conv("conv3", 1, 1, channels)
	} else {
		inner = []Node{conv("conv1", 3, stride, width)}
	}
	y := x
	for _, node := range inner {
		y = g.conv(y, node)
	}
	last.Shortcut = x
	if stride != 1 || g.nodes[x-1].C != channels {
		down := conv("downsample.0", 1, stride, channels)
		down.ReLU = false
		last.Shortcut = g.conv(x, down)
	}
	return g.conv(y, last)
}
