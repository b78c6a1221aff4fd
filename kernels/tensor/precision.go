package tensor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrPrecision is wrapped by errors about a precision that a device does not compute in.
var ErrPrecision = errors.New("precision is not supported by this device")

// Precision is the number format in which a device multiplies. Sums of products are float32 in all of them.
type Precision string

// Precisions. An open device never has Auto.
const (
	Auto Precision = "auto" // bf16 on a card that has it, else fp32
	FP32 Precision = "fp32" // float32 throughout
	TF32 Precision = "tf32" // float32 in memory; convolutions round their factors to 10 bits of mantissa
	// BF16 has feature maps, their gradients and copies of filters and biases in bfloat16. The weights themselves,
	// their gradients, the optimizer, the logits, the noise model and the loss stay float32. The CPU has the weights
	// of linear layers in bfloat16 and rounds their inputs. It trains nothing in BF16.
	BF16 Precision = "bf16"
)

// Precisions lists all of them.
func Precisions() []Precision { return []Precision{Auto, FP32, TF32, BF16} }

// Formats are the element types of what a device multiplies, and the layout of pictures.
type Formats struct {
	Maps   DType // feature maps, their gradients, and the filters that convolutions read
	Linear DType // weights of linear layers
	// Pixels is the number of channels of a picture: three, and zeros up to the 16 bytes that the convolutions of a
	// card need.
	Pixels int
}

// Formats returns the formats of a graphics card in the precision.
func (p Precision) Formats() Formats {
	switch p {
	case TF32:
		return Formats{Pixels: 4}
	case BF16:
		return Formats{Maps: BFloat16, Linear: BFloat16, Pixels: 8}
	}
	return Formats{Pixels: 3}
}

// Validate refuses unknown precisions. The empty one stands for Auto.
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

// OnCPU refuses precisions that the host does not compute in by an error that wraps ErrPrecision: all but fp32, and
// bf16 for features, of nets that do not learn.
func (p Precision) OnCPU(features bool) error {
	switch {
	case p == "" || p == Auto || p == FP32 || p == BF16 && features:
		return nil
	case p == BF16:
		return fmt.Errorf("precision %s: the CPU computes in fp32, except features of pretrained transformers (choose "+
			"fp32 or auto): %w", p, ErrPrecision)
	}
	return fmt.Errorf("precision %s: the CPU computes in fp32 (choose fp32 or auto): %w", p, ErrPrecision)
}

// tensorCores is the first compute capability, as major·10 + minor, whose tensor cores take TF32 and
// bfloat16.
const tensorCores = 80

// OnCard resolves Auto for a graphics card of a compute capability, major·10 + minor. It refuses precisions
// that the card does not support by an error that wraps ErrPrecision. Auto is bf16 if the card supports it.
// Its range equals float32's, so nothing overflows or vanishes that would not in fp32.
func (p Precision) OnCard(capability int) (Precision, error) {
	switch {
	case p == "" || p == Auto:
		if capability < tensorCores {
			return FP32, nil
		}
		return BF16, nil
	case p != FP32 && capability < tensorCores:
		return "", fmt.Errorf("precision %s: a card of compute capability %d.%d computes in fp32, %d.%d and newer ones also "+
			"in %s: %w",
			p, capability/10, capability%10, tensorCores/10, tensorCores%10, p, ErrPrecision)
	}
	return p, nil
}
