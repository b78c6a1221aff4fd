package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is more blocks than a stage of any known net has.
const maxDepth = 64

// RecogniseResNet returns the residual net of ResNets whose blocks a file holds under the names of
// torchvision and timm. It ignores widths and other tensors. It returns an empty string if there is none.
func RecogniseResNet(f Source) string {
	c := Config{Residual: Basic}
	seen := map[[2]int]bool{}
	for _, name := range f.Names() {
		stage, block, layer, ok := blockOf(name)
		if !ok || layer != "conv1" && layer != "conv3" {
			continue
		}
		if layer == "conv3" {
			c.Residual = Bottleneck
			continue
		}
		for len(c.Depths) < stage {
			c.Depths = append(c.Depths, 0)
		}
		if at := [2]int{stage, block}; !seen[at] {
			seen[at] = true
			c.Depths[stage-1]++
		}
	}
	for at := range seen { // 0 to depth-1, none left out
		if at[1] >= c.Depths[at[0]-1] {
			return ""
		}
	}
	return c.ResNetName()
}

// blockOf takes a name such as layer3.0.conv2.weight apart: stage 3, block 0, conv2.
func blockOf(name string) (stage, block int, layer string, ok bool) {
	parts := strings.Split(strings.TrimPrefix(name, "backbone."), ".")
	if len(parts) != 4 || parts[3] != "weight" || !strings.HasPrefix(parts[0], "layer") {
		return 0, 0, "", false
	}
	stage, err := strconv.Atoi(parts[0][len("layer"):])
	if err != nil || stage < 1 || stage > len(resNets[0].depths) {
		return 0, 0, "", false
	}
	block, err = strconv.Atoi(parts[1])
	return stage, block, parts[2], err == nil && block >= 0 && block < maxDepth
}

// ofResNet reports whether a tensor has a name from a residual net.
func ofResNet(name string) bool {
	name = strings.TrimPrefix(name, "backbone.")
	for _, start := range [...]string{"conv1.", "bn1.", "layer1.", "layer2.", "layer3.", "layer4.", "stem."} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// checkVariant refuses a file of another residual net: of another number of blocks, or of a variant, by the first of
// its tensors that this network has no layer for.
func (n *Net) checkVariant(f Source) error {
	if of := RecogniseResNet(f); of != "" && of != n.config.ResNetName() {
		return fmt.Errorf("model: the file holds %[1]s, and this network is %[2]s: set `net.arch` to %[1]s, or use another: "+
			"%[3]w",
			of, n.config.describe(), ErrOtherModel)
	}
	known := map[string]bool{}
	for _, u := range n.units {
		if u.Kind != Convolution {
			continue
		}
		for _, name := range u.tensors() {
			known[name] = true
		}
	}
	strange := slices.DeleteFunc(slices.Clone(f.Names()), func(name string) bool {
		return !ofResNet(name) || known[strings.TrimPrefix(name, "backbone.")]
	})
	if len(strange) == 0 {
		return nil
	}
	weight := slices.IndexFunc(strange, func(name string) bool { return strings.HasSuffix(name, ".weight") })
	name, hint := strange[max(0, weight)], ""
	switch {
	case strings.HasPrefix(name, "conv1."):
		hint = " (a stem of several convolutions, as resnet50d has)"
	case strings.Contains(name, ".downsample."):
		hint = " (a shortcut through a pool, as resnet50d has)"
	case strings.Contains(name, ".se."):
		hint = " (squeeze and excitation, as seresnet50 has)"
	}
	return fmt.Errorf("model: %s belongs to no layer of torchvision's %s%s: the file holds a variant; use "+
		"torchvision's weights, or timm's weights of the plain name (resnet50): %w", name, n.config.describe(), hint,
		ErrOtherModel)
}

// describe names a residual net in messages.
func (c Config) describe() string {
	if name := c.ResNetName(); name != "" {
		return name
	}
	return fmt.Sprintf("a residual net of %v blocks", c.Depths)
}
