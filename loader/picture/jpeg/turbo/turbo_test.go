package turbo_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"nmn/loader/picture/jpeg/turbo"
)

func newDecoder(t *testing.T) *turbo.Decoder {
	t.Helper()
	d, err := turbo.New()
	if errors.Is(err, turbo.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func decode(d *turbo.Decoder, data []byte) ([]uint8, error) {
	width, height, err := d.Header(data)
	if err != nil {
		return nil, err
	}
	rgb := make([]uint8, 3*width*height)
	return rgb, d.Decode(rgb)
}

// The sums are those that the decoder of package jpeg is held to: which one is used changes no pixel. The
// API takes neither CMYK nor 4:1:0.
func TestDecoder_PixelsAreThoseOfPackageJPEG(t *testing.T) {
	d := newDecoder(t)
	table, err := os.ReadFile("../testdata/pixels.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		name, want := fields[0], fields[len(fields)-1]
		if name == "cmyk" || name == "410" {
			continue
		}
		data, err := os.ReadFile("../testdata/" + name + ".jpg")
		if err != nil {
			t.Fatal(err)
		}
		rgb, err := decode(d, data)
		sum := fnv.New64a()
		sum.Write(rgb)
		if got := fmt.Sprintf("%016x", sum.Sum64()); err != nil || got != want {
			t.Errorf("%s: %v, or other pixels", name, err)
		}
	}
}

func TestDecoder_RefusesWhatIsCutShort(t *testing.T) {
	d := newDecoder(t)
	data, err := os.ReadFile("../testdata/420.jpg")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 100, len(data) / 2, len(data) - 2} {
		if _, err := decode(d, data[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken for a picture", n, len(data))
		}
	}
	if _, _, err := d.Header(data); err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(make([]uint8, 9)); err == nil {
		t.Error("decoded into a buffer of another size")
	}
}
