package picture

import (
	"bytes"
	"errors"
	"math"
	"os"
	"testing"
)

func TestDecode_EveryDecoder(t *testing.T) {
	colour := encodedJPEG(t, smooth(101, 67))
	cmyk, err := os.ReadFile("jpeg/testdata/cmyk.jpg") // which image/jpeg takes alone
	if err != nil {
		t.Fatal(err)
	}
	var want, inks Picture
	if err := errors.Join(Decode(colour, &want), Decode(cmyk, &inks)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []Decoder{DecoderGo, DecoderStd} {
		pic := Picture{Decoder: d}
		if err := Decode(colour, &pic); err != nil || pic.Width != 101 || pic.Height != 67 {
			t.Errorf("%s: %d×%d, %v", d, pic.Width, pic.Height, err)
			continue
		}
		sum := 0.
		for i, v := range pic.Pix {
			sum += math.Abs(float64(v) - float64(want.Pix[i]))
		}
		if mean := sum / float64(len(pic.Pix)); !(mean < 1) {
			t.Errorf("%s: pixels are %v off in the mean", d, mean)
		}
		if err := Decode(cmyk, &pic); err != nil || !bytes.Equal(pic.Pix, inks.Pix) {
			t.Errorf("%s: CMYK: %v, or other pixels", d, err)
		}
		for _, data := range [][]byte{colour[:len(colour)/2], colour[:len(colour)-2], colour[:30]} {
			if err := Decode(data, &pic); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: cut short: %v, want ErrCorruptPicture", d, err)
			}
		}
		if err := Decode(colour, &Picture{Decoder: d, MaxPixels: 101*67 - 1}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: beyond the limit: %v, want ErrCorruptPicture", d, err)
		}
	}
	if err := Decoder("gd").Validate(); err == nil {
		t.Error("an unknown decoder is accepted")
	}
}
