package jpeg

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// manyScans is a file of n empty scans, as far as markers go.
func manyScans(n int) []byte {
	data := []byte{0xff, soi}
	for range n {
		data = append(data, 0xff, sos, 0, 2, 0x12, 0xff, 0, 0xff, rst0, 0x34)
	}
	return append(data, 0xff, eoi)
}

func TestCheckScans(t *testing.T) {
	most := manyScans(maxScans)
	preview := append([]byte{0xff, soi, 0xff, app0 + 1, 0x0c, 0x02}, manyScans(307)...)[:6+0x0c00]
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"as many as allowed": {most, nil},
		"one more":           {manyScans(maxScans + 1), errScans},
		"one more behind fill bytes": {bytes.ReplaceAll(manyScans(maxScans+1), []byte{0xff, sos}, []byte{0xff, 0xff, sos}),
			errScans},
		"more behind the end":          {append(bytes.Clone(most), manyScans(9)...), nil},
		"more inside a segment":        {append(preview, most[2:]...), nil},
		"one more without an end":      {manyScans(maxScans + 1)[:2+10*(maxScans+1)], errScans},
		"cut inside a length":          {[]byte{0xff, soi, 0xff, app0, 0}, nil},
		"cut inside a segment":         {[]byte{0xff, soi, 0xff, app0, 0, 9}, nil},
		"a segment that has no length": {[]byte{0xff, soi, 0xff, app0, 0, 0, 0xff, eoi}, nil},
	} {
		if err := CheckScans(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// sizedScans is a file of n empty scans of a picture of the given size, as far as markers go.
func sizedScans(frame byte, width, height, n int) []byte {
	data := []byte{0xff, soi, 0xff, frame, 0, 11, 8, byte(height >> 8), byte(height), byte(width >> 8), byte(width),
		1, 1, 0x11, 0}
	return append(data, manyScans(n)[2:]...)
}

// Each scan goes over all pixels, so that a large picture may have fewer than a small one.
func TestCheckScans_PixelsOfAllScansAreLimited(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string // part of the message, empty for none
	}{
		"100 megapixels, 20 scans": {sizedScans(sof2, 10000, 10000, 20), ""},
		"100 megapixels, 22 scans": {sizedScans(sof2, 10000, 10000, 22),
			"22 scans or more of 10000×10000 pixels go over 2200000000 pixels"},
		"36 megapixels, 230 scans": {sizedScans(sof2, 6000, 6000, 230),
			"60 scans or more of 6000×6000 pixels go over 2160000000 pixels"},
		"36 megapixels, of another kind":      {sizedScans(sof0+10, 6000, 6000, 230), "more than 2147483648"},
		"just as many as allowed":             {sizedScans(sof0, 32768, 32768, 2), ""},
		"one row more":                        {sizedScans(sof0, 32768, 32769, 2), "more than 2147483648"},
		"700 megapixels, a scan for each ink": {sizedScans(sof0, 28000, 25000, 3), ""},
		"small, as many as allowed":           {sizedScans(sof2, 2896, 2896, maxScans), ""},
		"cut inside the frame header":         {sizedScans(sof2, 10000, 10000, 1)[:10], ""},
	} {
		err := CheckScans(c.data)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// CheckScans finds too many scans whenever the decoder itself would.
func FuzzCheckScans(f *testing.F) {
	for _, s := range sampleFiles(f) {
		f.Add(s.data)
	}
	f.Add(manyScans(maxScans + 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := CheckScans(data)
		var d Decoder
		if width, height, err := d.Header(data); err != nil || width*height > 1<<16 {
			return
		}
		if _, _, _, err := decode(&d, data); errors.Is(err, errScans) && seen == nil {
			t.Fatal("the decoder meets more scans than are counted")
		}
	})
}
