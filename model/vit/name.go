package vit

import "fmt"

// Name returns the published name of a net of this size, such as ViT-S/14, or a name by its width.
func (c Config) Name() string {
	size, known := map[int]string{192: "Ti", 384: "S", 768: "B", 1024: "L", 1280: "H", 1408: "g", 1664: "G"}[c.Width]
	if !known {
		size = fmt.Sprintf("%d", c.Width)
	}
	return fmt.Sprintf("ViT-%s/%d", size, c.Patch)
}

// Layers lists the layers with features.
func (c Config) Layers() []Layer {
	if c.Projection == 0 {
		return layers[:3]
	}
	return layers[:]
}
