package turbo_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader/jpeg"
	"nmn/loader/jpeg/turbo"
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

// decoder is what both decoders are.
type decoder interface {
	Header(data []byte) (width, height int, err error)
	Decode(rgb []uint8) error
}

func decode(d decoder, data []byte) ([]uint8, error) {
	width, height, err := d.Header(data)
	if err != nil {
		return nil, err
	}
	rgb := make([]uint8, 3*width*height)
	return rgb, d.Decode(rgb)
}

// Which decoder is used changes no pixel.
func TestDecoder_PixelsAreThoseOfPackageJPEG(t *testing.T) {
	d := newDecoder(t)
	files, err := filepath.Glob("../testdata/*.jpg")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, wantErr := decode(new(jpeg.Decoder), data)
		if errors.Is(wantErr, jpeg.ErrUnsupported) {
			continue
		}
		// The API does not take every subsampling; 4:1:0 is none of its own.
		got, err := decode(d, data)
		if err != nil && strings.Contains(file, "410") {
			continue
		}
		if err != nil || wantErr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v and %v, or other pixels", file, err, wantErr)
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
