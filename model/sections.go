package model

import "nmn/kernels"

// sections name the layers for a profiler if the device has one.
type sections struct {
	to    kernels.Card         // nil for none
	names [2]map[string]string // of forward and backward sections, by layer: made once
	open  string
}

// Passes through the net.
const (
	forwardPass = iota
	backwardPass
)

func newSections(backend kernels.Backend) sections {
	s := sections{names: [2]map[string]string{{}, {}}}
	s.to, _ = backend.(kernels.Card)
	return s
}

// begin ends the current section and begins the section of a layer, unless that is current.
func (s *sections) begin(pass int, layer string) {
	if s.to == nil {
		return
	}
	name, known := s.names[pass][layer]
	if !known {
		name = [...]string{"forward ", "backward "}[pass] + layer
		s.names[pass][layer] = name
	}
	if name != s.open {
		s.open = name
		s.to.Section(name)
	}
}

func (s *sections) end() {
	if s.to != nil {
		s.open = ""
		s.to.Section("")
	}
}
