package half

import (
	"math"
	"testing"
)

func TestFloat32_ConvertsExactly(t *testing.T) {
	cases := map[uint16]float64{
		0x0000: 0, 0x0001: math.Ldexp(1, -24), 0x03ff: math.Ldexp(1023, -24), 0x0400: math.Ldexp(1, -14),
		0x3c00: 1, 0xbc00: -1, 0xc000: -2, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1), 0x3555: 0.333251953125,
	}
	for bits, want := range cases {
		if got := float64(Float32(bits)); got != want {
			t.Errorf("%#04x gives %v, want %v", bits, got, want)
		}
	}
	if got := Float32(0x8000); got != 0 || !math.Signbit(float64(got)) {
		t.Errorf("-0 became %v", got)
	}
	if got := Float32(0x7e01); got == got {
		t.Errorf("NaN became %v", got)
	}
}
