package tensor

import (
	"errors"
	"strings"
	"testing"
)

func TestPrecision_OfDevices(t *testing.T) {
	for _, features := range []bool{false, true} {
		for _, p := range []Precision{"", Auto, FP32} {
			if err := p.OnCPU(features); err != nil {
				t.Errorf("%q on the CPU: %v", p, err)
			}
		}
		if err := TF32.OnCPU(features); !errors.Is(err, ErrPrecision) {
			t.Errorf("%s on the CPU: %v", TF32, err)
		}
	}
	if err := BF16.OnCPU(true); err != nil {
		t.Errorf("%s on the CPU, for features: %v", BF16, err)
	}
	for _, p := range []Precision{TF32, BF16} {
		if err := p.OnCPU(false); !errors.Is(err, ErrPrecision) || !strings.Contains(err.Error(), "CPU computes in fp32") {
			t.Errorf("%s on the CPU: %v", p, err)
		}
	}
	for _, c := range []struct {
		asked      Precision
		capability int
		want       Precision // empty for a refusal
	}{
		{"", 75, FP32}, {Auto, 75, FP32}, {FP32, 75, FP32}, {TF32, 75, ""}, {BF16, 75, ""},
		{"", 80, BF16}, {Auto, 80, BF16}, {TF32, 80, TF32}, {BF16, 80, BF16}, {TF32, 120, TF32}, {FP32, 90, FP32},
	} {
		got, err := c.asked.OnCard(c.capability)
		if got != c.want || (err != nil) != (c.want == "") || err != nil && !errors.Is(err, ErrPrecision) {
			t.Errorf("%q on a card of capability %d: %q, %v", c.asked, c.capability, got, err)
		}
	}
}

func TestPrecision_Validate(t *testing.T) {
	for _, p := range append(Precisions(), "") {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []Precision{"fp64", "FP32", "half", " fp32"} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), string(FP32)) {
			t.Errorf("%q: %v", p, err)
		}
	}
}
