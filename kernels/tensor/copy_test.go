package tensor

import (
	"reflect"
	"testing"

	"nmn/internal/expect"
)

// The size leaves a last block that is not full.
func TestCPU_CopiesEveryElement(t *testing.T) {
	dev := NewCPU(3, "test")
	defer dev.Close()
	const n = 2*copyBlock + 7
	floats, ints, bytes, halves := make([]float32, n), make([]int32, n), make([]uint8, n), make([]uint16, n)
	for i := range n {
		floats[i], ints[i], bytes[i], halves[i] = float32(i+1), int32(i+1), uint8(i%255+1), uint16(i%65535+1)
	}
	a, _ := OfFloat32s(floats, n)
	b, _ := OfInt32s(ints, n)
	c, _ := OfUint8s(bytes, n)
	d, _ := OfBFloat16s(halves, n)
	for _, src := range []*Tensor{a, b, c, d} {
		dst, err := dev.Alloc(src.DType(), n)
		expect.OK(t, err)
		expect.OK(t, dev.Copy(dst, src))
		if !reflect.DeepEqual(dst, src) {
			t.Errorf("%v: the copy differs", src.DType())
		}
	}
}

func TestCPU_CopyRefusesWhatDoesNotFit(t *testing.T) {
	dev := NewCPU(1, "test")
	defer dev.Close()
	six, _ := OfFloat32s(make([]float32, 6), 6)
	five, _ := OfFloat32s(make([]float32, 5), 5)
	ints, _ := OfInt32s(make([]int32, 6), 6)
	card, err := OfAddress(256, Float32, 6)
	expect.OK(t, err)
	refused(t, dev.Copy(six, five), "float32 5 to float32 6")
	refused(t, dev.Copy(six, ints), "int32 6")
	refused(t, dev.Copy(six, card), "not in host memory")
	refused(t, dev.Copy(card, six), "not in host memory")
}
