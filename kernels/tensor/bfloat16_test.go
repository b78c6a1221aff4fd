package tensor

import (
	"math"
	"testing"
)

func TestRoundBFloat16(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		in   float32
		want uint16
	}{
		{0, 0}, {float32(math.Copysign(0, -1)), 0x8000}, {1, 0x3f80}, {-2.5, 0xc020},
		{1 + 1./256, 0x3f80}, {1 + 3./256, 0x3f82}, // halfway, to even: down, up
		{1 + 1./256 + 1./65536, 0x3f81}, {1.999, 0x4000},
		{math.MaxFloat32, 0x7f80}, {inf, 0x7f80}, {-inf, 0xff80}, {math.SmallestNonzeroFloat32, 0},
	} {
		var got [1]uint16
		RoundBFloat16(got[:], []float32{c.in})
		if got[0] != c.want {
			t.Errorf("%v is %#x, want %#x", c.in, got[0], c.want)
		}
	}
	// Rounded as numbers, the first two would become other values.
	for _, bits := range []uint32{0x7f800001, 0x7fffffff, 0xffc00000} {
		var half [1]uint16
		var wide [1]float32
		RoundBFloat16(half[:], []float32{math.Float32frombits(bits)})
		if WidenBFloat16(wide[:], half[:]); wide[0] == wide[0] {
			t.Errorf("NaN %#x became %v", bits, wide[0])
		}
	}
}

// Every bfloat16 that is a number survives the way to float32 and back.
func TestWidenBFloat16_IsExact(t *testing.T) {
	all, wide, again := make([]uint16, 1<<16), make([]float32, 1<<16), make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	WidenBFloat16(wide, all)
	RoundBFloat16(again, wide)
	for i, bits := range all {
		if wide[i] == wide[i] && again[i] != bits {
			t.Fatalf("%#x became %v and %#x", bits, wide[i], again[i])
		}
	}
}
