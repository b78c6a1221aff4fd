package cudnn

import (
	"fmt"
	"strings"
)

// Knob is a setting of an engine.
type Knob struct {
	Type  int64 `json:"type"`
	Value int64 `json:"value"`
}

// Engine is a way to compute a graph: an implementation in the library and its settings.
type Engine struct {
	Index int64  `json:"engine"`
	Knobs []Knob `json:"knobs"`
}

// Choice is how a pass of a convolution is computed.
type Choice struct {
	// Direct reports whether Index is an algorithm of the interface without graphs, which has no knobs.
	Direct bool `json:"direct,omitempty"`
	// Kernel names a kernel from Include that computes the pass instead of the library; empty for none.
	Kernel string `json:"kernel,omitempty"`
	Engine
	Workspace    int     `json:"workspace"`              // bytes
	Microseconds float64 `json:"microseconds,omitempty"` // measured; 0 where it was not
	From         int     `json:"from,omitempty"`         // the batch whose choice it is, where that is another; else 0
}

// String describes the choice in a few words, such as "cudnn engine 58 2=1,4=3": the settings follow the number.
func (c Choice) String() string {
	if c.Kernel != "" {
		return c.Kernel
	}
	if c.Direct {
		return fmt.Sprintf("cudnn algorithm %d", c.Index)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cudnn engine %d", c.Index)
	for i, k := range c.Knobs {
		separator := ","
		if i == 0 {
			separator = " "
		}
		fmt.Fprintf(&b, "%s%d=%d", separator, k.Type, k.Value)
	}
	return b.String()
}
