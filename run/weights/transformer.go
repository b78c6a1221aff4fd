package runweights

import (
	"fmt"
	"strings"

	"nmn/internal/visible"
)

// transformerTable shows people which vision transformer a file holds, how it wants pictures, and what of the file it
// does not take.
func (f *File) transformerTable() string {
	c := &f.Transformer.Config
	var b strings.Builder
	fmt.Fprintf(&b, "weights %s: %s, %d tensors\n", visible.Line(f.File), f.Format, len(f.Tensors))
	heads := fmt.Sprintf("%d heads", c.Heads)
	if c.Heads == 0 {
		heads = "a number of heads that tensors do not say (`net.backbone_heads`)"
	}
	fmt.Fprintf(&b, "  %s, layout %s: %d blocks of width %d, %s, MLP of %d, GELU %s", c.Name(), c.Layout, c.Depth, c.Width,
		heads, c.Hidden, c.GELU)
	for _, part := range []struct {
		has  bool
		name string
	}{{c.LayerScale, "LayerScale"}, {c.PreNorm, "a norm before the blocks"},
		{c.Registers > 0, fmt.Sprintf("%d registers", c.Registers)}, {c.Projection > 0, "a projection"}} {
		if part.has {
			b.WriteString(", " + part.name)
		}
	}
	fmt.Fprintf(&b, "\n  positions  %d×%d patches of %d pixels, made to fit others: %s\n", c.Grid, c.Grid, c.Patch,
		c.Resampling)
	fmt.Fprintf(&b, "  pictures   %s\n", c.Pictures)
	b.WriteString("  features  ")
	for i, l := range c.Layers() {
		width, err := c.LayerWidth(l)
		if err != nil {
			continue // of a layer that this net has there is none
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s %d", l, width)
	}
	b.WriteByte('\n')
	b.WriteString(unusedTensors(f.Transformer.Unused))
	return b.String()
}

// unusedTensors says how many tensors of a file are not taken, and names the first of them.
func unusedTensors(names []string) string {
	if len(names) == 0 {
		return ""
	}
	const most = 6
	shown := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		shown += ", ..."
	}
	return fmt.Sprintf("  %d tensors of no use here: %s\n", len(names), visible.Line(shown))
}
