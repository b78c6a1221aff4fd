package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/kernels/simd"
)

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, png.Encode(&b, img))
	return b.Bytes()
}

func encodedJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

// smooth is a picture without sharp edges, which JPEG keeps.
func smooth(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			wave := func(a, b float64) uint8 { return uint8(128 + 100*math.Sin(a*float64(x)+b*float64(y))) }
			img.SetNRGBA(x, y, color.NRGBA{wave(.05, .02), wave(.03, -.04), wave(-.02, .05), 255})
		}
	}
	return img
}

// hugePNG has a valid header of a billion pixels and hardly any data.
func hugePNG(width, height uint32) []byte {
	chunk := func(kind string, data []byte) []byte {
		body := append([]byte(kind), data...)
		out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
		return binary.BigEndian.AppendUint32(append(out, body...), crc32.ChecksumIEEE(body))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, 8, 2, 0, 0, 0))...)
	return append(append(out, chunk("IDAT", []byte{0x78, 0x9c, 3, 0, 0, 0, 0, 1})...), chunk("IEND", nil)...)
}

// hugeJPEG writes another size into the frame header of a JPEG.
func hugeJPEG(t testing.TB, width, height uint16) []byte {
	data := encodedJPEG(t, smooth(16, 16))
	at := bytes.Index(data, []byte{0xff, 0xc0})
	if at < 0 {
		t.Fatal("the JPEG has no baseline frame")
	}
	binary.BigEndian.PutUint16(data[at+5:], height)
	binary.BigEndian.PutUint16(data[at+7:], width)
	return data
}

func TestDecode_ColourModels(t *testing.T) {
	const w, h = 37, 21
	bounds := image.Rect(0, 0, w, h)
	source := smooth(w, h)
	fill := func(set func(x, y int, c color.Color)) {
		for y := range h {
			for x := range w {
				set(x, y, source.At(x, y))
			}
		}
	}
	grey, grey16, rgba, deep, paletted := image.NewGray(bounds), image.NewGray16(bounds), image.NewRGBA(bounds),
		image.NewNRGBA64(bounds), image.NewPaletted(bounds, nil)
	for i := range 256 {
		paletted.Palette = append(paletted.Palette, color.NRGBA{uint8(i), uint8(255 - i), uint8(i / 2), 255})
	}
	fill(grey.Set)
	fill(grey16.Set)
	fill(rgba.Set)
	fill(deep.Set)
	fill(paletted.Set)
	half := image.NewNRGBA(bounds)
	fill(func(x, y int, c color.Color) { n := c.(color.NRGBA); n.A = uint8(x * 6); half.Set(x, y, n) })
	for name, img := range map[string]image.Image{
		"grey": grey, "grey 16": grey16, "rgba": rgba, "nrgba": source, "nrgba 16": deep, "paletted": paletted,
		"alpha": half,
	} {
		t.Run(name, func(t *testing.T) {
			var pic Picture
			expect.OK(t, Decode(encodePNG(t, img), &pic))
			if pic.Width != w || pic.Height != h {
				t.Fatalf("%d×%d", pic.Width, pic.Height)
			}
			for i := range w * h {
				r, g, b, a := img.At(i%w, i/w).RGBA()
				for c, v := range [3]uint32{r, g, b} {
					want := float64(v+0xffff-a) / 257 // on white
					if got := float64(pic.Pix[3*i+c]); math.Abs(got-want) > 1 {
						t.Fatalf("pixel %d channel %d is %v, want %.2f", i, c, got, want)
					}
				}
			}
		})
	}
}

func TestDecode_JPEGIsClose(t *testing.T) {
	source := smooth(101, 67) // odd: the last column and row have chroma of their own
	grey := image.NewGray(source.Rect)
	for i := range grey.Pix {
		grey.Pix[i] = source.Pix[4*i]
	}
	for name, img := range map[string]image.Image{"colour": source, "grey": grey} {
		var pic Picture
		expect.OK(t, Decode(encodedJPEG(t, img), &pic))
		for i := range 101 * 67 {
			r, g, b, _ := img.At(i%101, i/101).RGBA()
			for c, v := range [3]uint32{r, g, b} {
				if got, want := float64(pic.Pix[3*i+c]), float64(v>>8); math.Abs(got-want) > 8 {
					t.Fatalf("%s: (%d,%d) channel %d is %v, was %v", name, i%101, i/101, c, got, want)
				}
			}
		}
	}
}

// A ramp of chroma at half the resolution must come out as a ramp, not as stairs.
func TestChroma_IsInterpolated(t *testing.T) {
	img := image.NewYCbCr(image.Rect(0, 0, 32, 32), image.YCbCrSubsampleRatio420)
	ramp := func(x, y float64) float64 { return 60 + 2*x + y }
	for y := range 16 {
		for x := range 16 {
			img.Cr[y*img.CStride+x] = uint8(math.Round(ramp(2*float64(x)+.5, 2*float64(y)+.5)))
		}
	}
	c := newChroma(img)
	for y := 2; y < 30; y++ {
		row := c.row(0, img.Cr, y, c.cr)
		for x := 2; x < 30; x++ {
			if got, want := float64(row[x]), ramp(float64(x), float64(y)); math.Abs(got-want) > 1.5 {
				t.Fatalf("(%d,%d) is %v, want %v", x, y, got, want)
			}
		}
	}
}

func TestDecode_IsTheSameAtEveryLevel(t *testing.T) {
	for _, width := range []int{1, 9, 10, 61} {
		data := encodedJPEG(t, smooth(width, 33))
		var want Picture
		expect.OK(t, Decode(data, &want))
		for _, level := range simd.Levels() {
			got := Picture{Level: level}
			if err := Decode(data, &got); err != nil || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%s: width %d: %v, or other pixels", level, width, err)
			}
		}
	}
}

// A JPEG of four inks is left to image/jpeg, also by a picture that has decoded others.
func TestDecode_JPEGOfInks(t *testing.T) {
	data, err := os.ReadFile("jpeg/testdata/cmyk.jpg")
	expect.OK(t, err)
	var want, got Picture
	expect.OK(t, errors.Join(Decode(data, &want), Decode(encodedJPEG(t, smooth(101, 67)), &got)))
	if err := Decode(data, &got); err != nil || !bytes.Equal(got.Pix, want.Pix) {
		t.Errorf("%v, or other pixels", err)
	}
}

func TestConvert_CMYK(t *testing.T) {
	img := image.NewCMYK(image.Rect(0, 0, 2, 1))
	copy(img.Pix, []uint8{0, 255, 255, 0, 0, 0, 0, 255})
	var pic Picture
	pic.Resize(2, 1)
	pic.convert(img)
	if want := []uint8{255, 0, 0, 0, 0, 0}; !bytes.Equal(pic.Pix, want) {
		t.Errorf("%v, want %v", pic.Pix, want)
	}
}

func TestDecode_GIFFrameSmallerThanScreen(t *testing.T) {
	frame := image.NewPaletted(image.Rect(2, 1, 4, 3),
		color.Palette{color.RGBA{200, 10, 20, 255}, color.RGBA{0, 0, 0, 255}})
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0},
		Config: image.Config{Width: 6, Height: 5}}); err != nil {
		t.Fatal(err)
	}
	var pic Picture
	expect.OK(t, Decode(b.Bytes(), &pic))
	inside, outside := 3*(1*6+2), 3*(1*6+1)
	if pic.Width != 6 || pic.Height != 5 || pic.Pix[inside] != 200 || pic.Pix[outside] != 255 {
		t.Errorf("%d×%d, inside %d, outside %d", pic.Width, pic.Height, pic.Pix[inside], pic.Pix[outside])
	}
}

func TestDecode_Hostile(t *testing.T) {
	whole := map[string][]byte{"jpeg": encodedJPEG(t, smooth(64, 64)), "png": encodePNG(t, smooth(64, 64))}
	cases := map[string][]byte{
		"empty": nil, "text": []byte("hello, world"), "one byte": {0xff},
		"png of 1e9 pixels":        hugePNG(31623, 31623),
		"png of 2^62 pixels":       hugePNG(1<<31-1, 1<<31-1),
		"png without pixels":       hugePNG(0, 5),
		"png too short for header": hugePNG(1000, 1000),
		"jpeg of 4e9 pixels":       hugeJPEG(t, 65535, 65535),
		"jpeg too short":           hugeJPEG(t, 1000, 1000),
		"jpeg without rows":        hugeJPEG(t, 16, 0),
	}
	for name, data := range whole {
		for _, part := range []int{3, 8, 20, len(data) / 3, len(data) / 2, len(data) - 30} {
			cases[name+" cut at "+strings.Repeat("i", part%7)+string(rune('a'+part%26))] = data[:part]
		}
	}
	for name, data := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var pic Picture
		err := Decode(data, &pic)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorruptPicture", name, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 4<<20 {
			t.Errorf("%s: took %d bytes", name, taken)
		}
	}
}

func TestDecode_LimitIsExact(t *testing.T) {
	for _, data := range [][]byte{encodePNG(t, smooth(10, 7)), encodedJPEG(t, smooth(10, 7))} {
		if err := Decode(data, &Picture{MaxPixels: 70}); err != nil {
			t.Errorf("70 pixels at a limit of 70: %v", err)
		}
		if err := Decode(data, &Picture{MaxPixels: 69}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("70 pixels at a limit of 69: %v", err)
		}
	}
}

// The bound on the file size must not refuse the smallest files there are.
func TestDecode_FlatPicturesAreNotTooShort(t *testing.T) {
	flat := image.NewGray(image.Rect(0, 0, 2000, 500))
	files := stored(t, flat)
	files["JPEG"] = encodedJPEG(t, flat)
	for name, data := range files {
		if err := Decode(data, new(Picture)); err != nil {
			t.Errorf("%s of %d bytes: %v", name, len(data), err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encodedJPEG(f, smooth(17, 9)))
	f.Add(encodePNG(f, smooth(9, 17)))
	f.Add(hugePNG(31623, 31623))
	f.Add(
		[]byte(
			"GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00" +
				",\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02D\x01\x00;"))
	for _, data := range stored(f, smooth(5, 4)) {
		f.Add(data)
	}
	for _, text := range []string{lossyWebP, turnedWebP, losslessWebP, alphaWebP} {
		f.Add(decoded64(f, text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pic := Picture{Orientation: OrientationApply, MaxPixels: 1 << 16}
		err := Decode(data, &pic)
		if err != nil {
			// Panics of decoders that are not ours are errors too.
			ours := slices.Contains([]string{jpegFormat, pngFormat, "GIF"}, Format(data))
			if !errors.Is(err, ErrCorrupt) || ours && strings.Contains(err.Error(), "decoder failed") {
				t.Fatal(err)
			}
			return
		}
		if pic.Width < 1 || pic.Height < 1 || pic.Width*pic.Height > 1<<16 || len(pic.Pix) != 3*pic.Width*pic.Height {
			t.Fatalf("%d×%d with %d bytes", pic.Width, pic.Height, len(pic.Pix))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	img := smooth(640, 480)
	s := rng.New(1)
	for i := range img.Pix {
		if i%4 != 3 {
			img.Pix[i] = uint8(min(255, int(img.Pix[i])+s.Intn(16)))
		}
	}
	data := encodedJPEG(b, img)
	var pic Picture
	b.SetBytes(640 * 480 * 3)
	for b.Loop() {
		expect.OK(b, Decode(data, &pic))
	}
}

// progressiveInks is a progressive JPEG of 16×16 pixels and four inks; the first ink has the given number of
// scans that change nothing. Such files are left to image/jpeg, which sets no limit.
func progressiveInks(scans int) []byte {
	data := []byte{0xff, 0xd8}
	segment := func(marker byte, body ...byte) {
		length := len(body) + 2
		data = append(append(data, 0xff, marker, byte(length>>8), byte(length)), body...)
	}
	segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")...)
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)               // quantisation
	segment(0xc2, 8, 0, 16, 0, 16, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0) // frame
	segment(0xc4, append(append([]byte{0x00, 1}, make([]byte, 15)...), 0)...)         // one code: no change
	segment(0xda, append([]byte{4}, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0, 0)...)              // all inks
	data = append(data, 0x00, 0x00)                                                   // 16 blocks
	for range scans - 1 {
		segment(0xda, 1, 1, 0, 0, 0, 0)
		data = append(data, 0x0f) // 4 blocks
	}
	return append(data, 0xff, 0xd9)
}

// A file of 10 bytes for each scan must not cost the time of thousands of pictures.
func TestDecode_ScansAreLimited(t *testing.T) {
	if err := Decode(progressiveInks(256), new(Picture)); err != nil {
		t.Errorf("256 scans: %v", err)
	}
	err := Decode(progressiveInks(257), new(Picture))
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "more than 256 scans") {
		t.Errorf("257 scans: %v", err)
	}
}

// Pictures that together are larger than the room are decoded one after the other, and as without it.
func TestRoom_LargePicturesWaitForEachOther(t *testing.T) {
	files := map[string][]byte{"JPEG": encodedJPEG(t, smooth(200, 100)), "PNG": encodePNG(t, smooth(200, 100)),
		"grey": encodePNG(t, image.NewGray(image.Rect(0, 0, 100, 200)))}
	room := NewRoom(200_000, 2) // 100,000 bytes are shared, 50,000 are each worker's: two do not fit
	first := Picture{Room: room}
	if err := Decode(files["JPEG"], &first); err != nil || first.taken != 100_000 {
		t.Fatalf("%d bytes, %v", first.taken, err)
	}
	if room.shared.TryAcquire(1) {
		t.Fatal("the first picture leaves room")
	}
	var all sync.WaitGroup
	for name, data := range files {
		all.Go(func() {
			var want Picture
			got := Picture{Room: room}
			for range 3 {
				if err := Decode(data, &got); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := Decode(data, &want); err != nil || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%s: %v, or other pixels", name, err)
			}
			got.Release()
			got.Release()
			if got.Pix != nil {
				t.Errorf("%s: a picture that took room keeps its memory", name)
			}
		})
	}
	first.Release()
	all.Wait()
	if !room.shared.TryAcquire(room.most) {
		t.Error("room is not given back")
	}
}

func TestRoom_SmallPicturesKeepTheirMemory(t *testing.T) {
	pic := Picture{Room: NewRoom(1<<20, 2)}
	data := encodedJPEG(t, smooth(20, 10))
	if err := Decode(data, &pic); err != nil || pic.taken != 0 {
		t.Fatalf("%d bytes, %v", pic.taken, err)
	}
	pic.Release()
	if len(pic.Pix) != 3*20*10 {
		t.Errorf("%d bytes are left", len(pic.Pix))
	}
}
