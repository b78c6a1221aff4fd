package conform

import "strings"

// FixtureNet is the network of the tiny_net fixtures: blocks of convolutions, each with a pool, and the
// three layers of the head as convolutions.
type FixtureNet struct {
	Height, Width  int   // of the images
	Depths, Widths []int // convolutions of each block, and their channels, equal within a block
	FC6, FC6Kernel int   // channels and side of the filter
	FC6Pad         int
	FC7, Classes   int
}

// Net reads the network from the fixture that holds its parameters. The size of the images comes from its own
// batch.
func (f *Fixture) Net() FixtureNet {
	f.t.Helper()
	x, fc6 := f.Input("x").Shape, f.Input("params.fc6.w").Shape
	n := FixtureNet{Height: x[2], Width: x[3], FC6: fc6[0], FC6Kernel: fc6[2], FC6Pad: f.Setting("fc6_pad"),
		FC7: f.Input("params.fc7.w").Shape[0], Classes: f.Setting("K")}
	blocks, _ := f.Meta["blocks"].([]any)
	for _, block := range blocks {
		channels, _ := block.([]any) // of each convolution
		if len(channels) == 0 {
			f.t.Fatalf("fixture %q has a block without convolutions", f.Name)
		}
		width, _ := channels[0].(float64)
		n.Depths = append(n.Depths, len(channels))
		n.Widths = append(n.Widths, int(width))
	}
	return n
}

// Setting is a whole number of Meta.
func (f *Fixture) Setting(name string) int {
	f.t.Helper()
	v, ok := f.Meta[name].(float64)
	if !ok {
		f.t.Fatalf("fixture %q has no setting %s", f.Name, name)
	}
	return int(v)
}

// ParamName is the product's name of a parameter of the fixtures, which write conv1_1.w or nmn.U.
func ParamName(fixture string) string {
	name, kind, _ := strings.Cut(fixture, ".")
	kind = map[string]string{"w": "weight", "b": "bias", "U": "weight"}[kind]
	switch {
	case strings.HasPrefix(name, "conv"):
		return "backbone." + name + "." + kind
	case name == "nmn":
		return "nmn." + kind
	}
	return "head." + name + "." + kind
}
