package alike

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader/picture"
)

// halved is a picture in half of its size, encoded anew at a quality.
func halved(t *testing.T, p *picture.Picture, quality int) *picture.Picture {
	t.Helper()
	small := image.NewRGBA(image.Rect(0, 0, p.Width/2, p.Height/2))
	for y := range p.Height / 2 {
		for x := range p.Width / 2 {
			for c := range 3 {
				at := 3*(2*y*p.Width+2*x) + c
				sum := int(p.Pix[at]) + int(p.Pix[at+3]) + int(p.Pix[at+3*p.Width]) + int(p.Pix[at+3*p.Width+3])
				small.Pix[y*small.Stride+4*x+c] = uint8(sum / 4)
			}
		}
	}
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, small, &jpeg.Options{Quality: quality}))
	return decoded(t, b.Bytes())
}

func decoded(t *testing.T, file []byte) *picture.Picture {
	t.Helper()
	var p picture.Picture
	expect.OK(t, picture.Decode(file, &p))
	return &p
}

// Photographs are not taken for each other, and are found again in half of their size.
func TestSign_Photographs(t *testing.T) {
	if os.Getenv("NMN_DATA") == "" {
		t.Skip("NMN_DATA names no folder with photographs")
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("NMN_DATA"), "coco-images", "*.jpg"))
	if err != nil || len(files) == 0 {
		t.Skip("no photographs", err)
	}
	var all []Signature
	plain, recognised, nearest := 0, 0, 128
	for _, name := range files {
		file, err := os.ReadFile(name)
		expect.OK(t, err)
		p := decoded(t, file)
		s, clear := Sign(p)
		if !clear {
			plain++
			continue
		}
		if resized, clear := Sign(halved(t, p, 50)); clear && s.Near(resized) {
			recognised++
		}
		for _, o := range all {
			nearest = min(nearest, bits.OnesCount64(s.Across^o.Across)+bits.OnesCount64(s.Down^o.Down))
			if s.Near(o) {
				t.Errorf("%s looks like another", name)
			}
		}
		all = append(all, s)
	}
	t.Logf("%d photographs, %d too plain, %d found again; the nearest two differ in %d bits",
		len(files), plain, recognised, nearest)
	if recognised < len(all)*98/100 || plain > len(files)/20 {
		t.Errorf("of %d photographs %d are too plain, and %d of the others found again", len(files), plain, recognised)
	}
}

func TestSign_PlainPicturesHaveNone(t *testing.T) {
	for name, value := range map[string]func(x, y int) uint8{
		"one colour": func(int, int) uint8 { return 90 },
		"ramp":       func(x, y int) uint8 { return uint8(x + y) },
		"stripes":    func(_, y int) uint8 { return uint8(y / 9 % 2 * 200) },
	} {
		p := picture.Picture{Width: 90, Height: 90, Pix: make([]uint8, 3*90*90)}
		for i := range p.Pix {
			p.Pix[i] = value(i/3%90, i/270)
		}
		if s, clear := Sign(&p); clear {
			t.Errorf("%s: %x", name, s)
		}
	}
	if _, clear := Sign(&picture.Picture{Width: 8, Height: 200, Pix: make([]uint8, 4800)}); clear {
		t.Error("a picture narrower than the grid")
	}
}

// The search by blocks finds what comparing all with all does, each pair once.
func TestPairs_FindsAllOnce(t *testing.T) {
	stream := rng.New(5)
	word := func() uint64 { return uint64(stream.Uint32())<<32 | uint64(stream.Uint32()) }
	var signs []Signature
	for i := range 400 {
		s := Signature{word(), word()}
		if i%3 > 0 { // one before, with up to 8 bits turned in each half
			s = signs[stream.Uint32()%uint32(len(signs))]
			for range stream.Uint32() % 8 {
				s.Across ^= 1 << (stream.Uint32() % 64)
				s.Down ^= 1 << (stream.Uint32() % 64)
			}
		}
		signs = append(signs, s)
	}
	var want, got []string
	for i, s := range signs {
		for j, o := range signs[i+1:] {
			if s.Near(o) {
				want = append(want, fmt.Sprint(i, i+1+j))
			}
		}
	}
	Pairs(signs, func(first, second int) { got = append(got, fmt.Sprint(first, second)) })
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 50 || !slices.Equal(got, want) {
		t.Errorf("%d pairs, want %d:\n%v\n%v", len(got), len(want), got, want)
	}
}
