package jpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"image/color"
	stdjpeg "image/jpeg"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
)

// sampleFile is a line of testdata/pixels.tsv: a file, and the sum of its pixels as libjpeg decodes them.
type sampleFile struct {
	name          string
	data          []byte
	width, height int
	sum           string
}

func sampleFiles(t testing.TB) (files []sampleFile) {
	t.Helper()
	table := readFile(t, "pixels.tsv")
	for line := range strings.Lines(string(table)) {
		var f sampleFile
		if _, err := fmt.Sscanf(line, "%s %d %d %s", &f.name, &f.width, &f.height, &f.sum); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		f.data = readFile(t, f.name+".jpg")
		files = append(files, f)
	}
	if len(files) < 20 {
		t.Fatalf("only %d files", len(files))
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	expect.OK(t, err)
	return data
}

func sample(t testing.TB, name string) []byte { return readFile(t, name+".jpg") }

// decode decodes a picture of less than a million pixels.
func decode(d *Decoder, data []byte) (rgb []uint8, width, height int, err error) {
	width, height, err = d.Header(data)
	if err != nil {
		return nil, 0, 0, err
	}
	if width*height > 1e6 {
		return nil, 0, 0, errors.New("too large for a test")
	}
	rgb = make([]uint8, 3*width*height)
	return rgb, width, height, d.Decode(rgb)
}

// One Decoder takes all files, so that what is left of one would show in the next.
func TestDecoder_PixelsAreThoseOfLibjpeg(t *testing.T) {
	files := sampleFiles(t)
	for _, level := range simd.Levels() {
		d := &Decoder{Level: level}
		for _, f := range files {
			rgb, width, height, err := decode(d, f.data)
			if f.name == "cmyk" {
				if !errors.Is(err, ErrUnsupported) {
					t.Errorf("%s: %v, want ErrUnsupported", f.name, err)
				}
				continue
			}
			if err != nil || width != f.width || height != f.height {
				t.Errorf("%s, %s: %d×%d, %v", level, f.name, width, height, err)
				continue
			}
			sum := fnv.New64a()
			sum.Write(rgb)
			if got := fmt.Sprintf("%016x", sum.Sum64()); got != f.sum {
				t.Errorf("%s, %s: other pixels", level, f.name)
			}
		}
	}
}

// image/jpeg is an independent decoder: its transform rounds differently, and it does not interpolate chroma
// at half resolution, so grey and full resolution are compared.
func TestDecoder_IsCloseToTheStandardLibrary(t *testing.T) {
	var d Decoder
	for _, name := range []string{"grey", "grey-progressive", "444", "444-restarts", "444-progressive", "rgb"} {
		data := sample(t, name)
		want, err := stdjpeg.Decode(bytes.NewReader(data))
		expect.OK(t, err)
		rgb, width, _, err := decode(&d, data)
		expect.OK(t, err)
		for i := range len(rgb) / 3 {
			pixel := color.RGBAModel.Convert(want.At(i%width, i/width)).(color.RGBA)
			for c, v := range [3]uint8{pixel.R, pixel.G, pixel.B} {
				if got := int(rgb[3*i+c]); got-int(v) > 4 || int(v)-got > 4 {
					t.Fatalf("%s: channel %d of pixel %d is %d, want %d", name, c, i, got, v)
				}
			}
		}
	}
}

func TestDecoder_KeepsItsMemory(t *testing.T) {
	for _, name := range []string{"420", "444-progressive", "420-restarts"} {
		var d Decoder
		data := sample(t, name)
		rgb, _, _, err := decode(&d, data)
		expect.OK(t, err)
		if n := testing.AllocsPerRun(5, func() {
			if _, _, err := d.Header(data); err != nil {
				t.Fatal(err)
			}
			expect.OK(t, d.Decode(rgb))
		}); n > 0 {
			t.Errorf("%s: %v allocations for a picture", name, n)
		}
	}
}

// A file that was cut is never taken for a picture, wherever it ends.
func TestDecoder_CutFilesAreRefused(t *testing.T) {
	var d Decoder
	for _, f := range sampleFiles(t) {
		for n := 0; n < len(f.data); n += 1 + (len(f.data)-n)/40 { // each of the last bytes
			if _, _, _, err := decode(&d, f.data[:n]); err == nil {
				t.Fatalf("%s: %d of %d bytes are taken for a picture", f.name, n, len(f.data))
			}
		}
	}
	data := sample(t, "420")
	if _, _, _, err := decode(&d, data[:len(data)-2]); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("without its end marker: %v", err)
	}
}

// Damage costs the picture, or some of its pixels, and nothing else: the next one is whole.
func TestDecoder_DamageStaysInItsFile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := &Decoder{Level: simd.Levels()[len(simd.Levels())-1]}
	whole := sample(t, "422")
	want, _, _, err := decode(new(Decoder), whole)
	expect.OK(t, err)
	for _, f := range sampleFiles(t) {
		for range 60 {
			data := bytes.Clone(f.data)
			for range 1 + r.IntN(4) {
				data[r.IntN(len(data))] ^= 1 << r.IntN(8)
			}
			_, _, _, _ = decode(d, data) // must return
		}
		if got, _, _, err := decode(d, whole); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("after damaged files like %s: %v, or other pixels", f.name, err)
		}
	}
}

// segmentAt finds the first segment of a marker.
func segmentAt(t testing.TB, data []byte, marker uint8) int {
	t.Helper()
	at := bytes.Index(data, []byte{0xff, marker})
	if at < 0 {
		t.Fatalf("no segment %#x", marker)
	}
	return at
}

// edited is a file with a segment changed.
func edited(t testing.TB, name string, marker uint8, change func(segment []byte)) []byte {
	data := bytes.Clone(sample(t, name))
	change(data[segmentAt(t, data, marker):])
	return data
}

func TestDecoder_RefusesWhatIsWrong(t *testing.T) {
	frame := func(change func(b []byte)) []byte { return edited(t, "420", sof0, change) }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no JPEG":              {[]byte("GIF89a"), "does not begin"},
		"no frame":             {[]byte{0xff, soi, 0xff, eoi}, "no frame header"},
		"frame of 12 bits":     {frame(func(b []byte) { b[4] = 12 }), "12 bits"},
		"no quantisation":      {frame(func(b []byte) { b[12] = 3 }), "quantisation table is missing"},
		"sampling 0":           {frame(func(b []byte) { b[11] = 0x02 }), "sampling"},
		"sampling 3 by 2":      {frame(func(b []byte) { b[11], b[14] = 0x31, 0x21 }), "not decoded here"},
		"same component twice": {frame(func(b []byte) { b[13] = b[10] }), "two components"},
		"lossless":             {frame(func(b []byte) { b[1] = 0xc3 }), "not decoded here"},
		"arithmetic coding":    {frame(func(b []byte) { b[1] = 0xc9 }), "not decoded here"},
		"no Huffman table":     {edited(t, "420", sos, func(b []byte) { b[6] = 0x33 }), "Huffman table is missing"},
		"unknown component":    {edited(t, "420", sos, func(b []byte) { b[5] = 99 }), "no component 99"},
		"too many codes": {edited(t, "420", dht, func(b []byte) { b[5], b[6], b[7] = b[5]+3, 0, b[7]-2 }),
			"too many codes"},
		"too few symbols": {edited(t, "420", dht, func(b []byte) { b[5] = 200 }), "bytes of symbols"},
		"unknown band":    {edited(t, "420-progressive", sos, func(b []byte) { b[12] = 64 }), "coefficients 0 to 64"},
	} {
		if _, _, _, err := decode(new(Decoder), c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A small file must not ask for work without end: each scan goes over all blocks.
func TestDecoder_ScansAreLimited(t *testing.T) {
	data := sample(t, "grey-progressive")
	first := segmentAt(t, data, sos)
	header := 2 + int(data[first+3])
	behind := first + header + (&entropy{}).load(data[first+header:], false)
	bomb := bytes.Clone(data[:first])
	for range maxScans + 1 {
		bomb = append(bomb, data[first:behind]...)
	}
	bomb = append(bomb, 0xff, eoi)
	if _, _, _, err := decode(new(Decoder), bomb); err == nil || !strings.Contains(err.Error(), "more than 256 scans") {
		t.Errorf("%v", err)
	}
}

// The size is known before memory is taken.
func TestDecoder_HeaderTakesNoMemory(t *testing.T) {
	data := edited(t, "420", sof0, func(b []byte) { binary.BigEndian.PutUint32(b[5:], 0xffffffff) })
	var d Decoder
	if n := testing.AllocsPerRun(3, func() {
		if width, height, err := d.Header(data); width != 65535 || height != 65535 || err != nil {
			t.Fatal(width, height, err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if err := d.Decode(make([]uint8, 300)); err == nil {
		t.Error("decoded into a buffer of another size")
	}
}

// Bytes that belong to no segment, and restart markers after the last interval, are skipped as in other
// decoders.
func TestDecoder_PassesOverWhatIsBetweenSegments(t *testing.T) {
	data := sample(t, "420")
	want, _, _, err := decode(new(Decoder), data)
	expect.OK(t, err)
	table := segmentAt(t, data, dht)
	strange := append(bytes.Clone(data[:table]), 1, 2, 3, 0xff, 0, 0xff, 0xff)
	strange = append(strange, data[table:len(data)-2]...)
	strange = append(strange, 0xff, 0xff, rst0+3, 9, 0xff, eoi, 7, 7)
	got, _, _, err := decode(new(Decoder), strange)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, or other pixels", err)
	}
}

// Any bytes give an error or a picture, the same at every level. The verdict on malformed files is not held
// against another decoder's: some pass over what T.81 forbids, such as a table with too many codes.
func FuzzDecoder(f *testing.F) {
	for _, s := range sampleFiles(f) {
		f.Add(s.data)
	}
	decoders := []*Decoder{}
	for _, level := range simd.Levels() {
		decoders = append(decoders, &Decoder{Level: level})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want []uint8
		var wantErr error
		for i, d := range decoders {
			width, height, err := d.Header(data)
			if err == nil && width*height > 1<<16 {
				return
			}
			rgb, _, _, err := decode(d, data)
			if i == 0 {
				want, wantErr = rgb, err
			} else if !bytes.Equal(rgb, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%s: %v, or other pixels than %s with %v", d.Level, err, decoders[0].Level, wantErr)
			}
		}
	})
}

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
