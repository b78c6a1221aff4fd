package doctor

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
	if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	return decoded(t, b.Bytes())
}

func decoded(t *testing.T, file []byte) *picture.Picture {
	t.Helper()
	var p picture.Picture
	if err := picture.Decode(file, &p, 1<<24); err != nil {
		t.Fatal(err)
	}
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
	var all []signature
	plain, recognised, nearest := 0, 0, 128
	for _, name := range files {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := decoded(t, file)
		s, clear := sign(p)
		if !clear {
			plain++
			continue
		}
		if resized, clear := sign(halved(t, p, 50)); clear && s.near(resized) {
			recognised++
		}
		for _, o := range all {
			nearest = min(nearest, bits.OnesCount64(s.across^o.across)+bits.OnesCount64(s.down^o.down))
			if s.near(o) {
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
		if s, clear := sign(&p); clear {
			t.Errorf("%s: %x", name, s)
		}
	}
	if _, clear := sign(&picture.Picture{Width: 8, Height: 200, Pix: make([]uint8, 4800)}); clear {
		t.Error("a picture narrower than the grid")
	}
}

// The search by blocks finds what comparing all with all does, each pair once.
func TestEachNear_FindsAllPairsOnce(t *testing.T) {
	stream := rng.New(5)
	word := func() uint64 { return uint64(stream.Uint32())<<32 | uint64(stream.Uint32()) }
	var looks []look
	for bag := range int32(300) {
		s := signature{word(), word()}
		if bag%3 > 0 { // one before, with up to 8 bits turned in each half
			s = looks[stream.Uint32()%uint32(len(looks))].sign
			for range stream.Uint32() % 8 {
				s.across ^= 1 << (stream.Uint32() % 64)
				s.down ^= 1 << (stream.Uint32() % 64)
			}
		}
		one := look{sign: s, bag: bag, split: uint8(bag % 2), content: [16]byte{byte(bag / 2), byte(bag % 50)}}
		looks = append(looks, one)
		if bag%5 == 0 { // another frame of the same clip, which looks like it: no finding
			one.sign.down ^= 1
			one.content[2]++
			looks = append(looks, one)
			one.content[2]++
			one.split = 1 - one.split // the bag of the same number of the other split: another clip
			looks = append(looks, one)
		}
	}
	var want, got []string
	name := func(a, b look) string { return fmt.Sprint(a.split, a.bag, b.split, b.bag) }
	for _, a := range looks {
		for _, b := range looks {
			if a.before(b) < 0 && a.sign.near(b.sign) && a.content != b.content {
				want = append(want, name(a, b))
			}
		}
	}
	eachNear(looks, func(a, b look) { got = append(got, name(a, b)) })
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 50 || !slices.Equal(got, want) {
		t.Errorf("%d pairs, want %d:\n%v\n%v", len(got), len(want), got, want)
	}
}
