package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrPrecision is wrapped by errors about a precision that a device does not compute in.
var ErrPrecision = errors.New("precision is not supported by this device")

// Precision is how a device multiplies. Sums of products are float32 in all of them.
type Precision string

// Precisions. An open device has one of the last two or three, never Auto.
const (
	Auto Precision = "auto" // the fastest that is safe on the device
	FP32 Precision = "fp32" // float32 throughout
	TF32 Precision = "tf32" // float32 in memory; convolutions round their factors to 10 bits of mantissa
)

// Precisions lists all of them.
func Precisions() []Precision { return []Precision{Auto, FP32, TF32} }

// Validate refuses what is no precision. The empty one stands for Auto.
func (p Precision) Validate() error {
	if p != "" && !slices.Contains(Precisions(), p) {
		var names []string
		for _, known := range Precisions() {
			names = append(names, string(known))
		}
		return fmt.Errorf("precision %q: want %s", p, strings.Join(names, ", "))
	}
	return nil
}

// OnCPU refuses what the host does not compute in, which is all but fp32, by an error that wraps
// ErrPrecision.
func (p Precision) OnCPU() error {
	if p == "" || p == Auto || p == FP32 {
		return nil
	}
	return fmt.Errorf("precision %s: the CPU computes in fp32: %w", p, ErrPrecision)
}

// tensorCores is the first compute capability, as major·10 + minor, whose tensor cores take TF32 and
// bfloat16.
const tensorCores = 80

// OnCard resolves Auto for a graphics card of a compute capability, major·10 + minor, and refuses what the
// card does not compute in by an error that wraps ErrPrecision.
func (p Precision) OnCard(capability int) (Precision, error) {
	switch {
	case p == "" || p == Auto:
		return FP32, nil
	case p != FP32 && capability < tensorCores:
		return "", fmt.Errorf("precision %s: a card of compute capability %d.%d computes in fp32, %d.%d and newer ones also in %s: %w",
			p, capability/10, capability%10, tensorCores/10, tensorCores%10, p, ErrPrecision)
	}
	return p, nil
}
