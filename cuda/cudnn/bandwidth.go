//go:build cuda

package cudnn

import (
	"regexp"
	"strconv"
)

var (
	memoryClock = regexp.MustCompile(`"memClockRateKHz"\s*:\s*(\d+)`)
	memoryBits  = regexp.MustCompile(`"memBusWidth(?:Bits)?"\s*:\s*(\d+)`)
)

// BytesPerMicrosecond is how much the device's memory moves, by cuDNN's description of it; 0 where that does not
// say. It is the same in every run, which a measured one would not be.
func (h *Handle) BytesPerMicrosecond() float64 {
	text, err := h.Description()
	if err != nil {
		return 0
	}
	return bandwidth(text)
}

// bandwidth reads a device's description; memory moves twice in each tick of its clock.
func bandwidth(description []byte) float64 {
	clock, bits := number(memoryClock, description), number(memoryBits, description)
	return 2 * clock * 1e3 * bits / 8 / 1e6
}

// number is the number that a pattern finds, 0 where it finds none.
func number(pattern *regexp.Regexp, text []byte) float64 {
	found := pattern.FindSubmatch(text)
	if found == nil {
		return 0
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		return 0
	}
	return v
}
