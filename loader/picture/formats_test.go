package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"nmn/internal/expect"
)

// WebP files that Pillow has written: two colours side by side, with loss, and the same with an orientation of 6; red,
// but for one pixel that nothing is seen of and one of half-transparent blue, without loss; and red that is, with loss,
// transparent in the top right corner and half-transparent blue in the bottom left one.
const (
	lossyWebP = "UklGRmAAAABXRUJQVlA4IFQAAACwBACdASooABgAPhkKhEEhBgNVAAQAYSgB3BfAPwA/YD+gcgF2A/YAAvtPltEAAP75" +
		"vhf//uOw9rZyf///FIgRHNp0f4m6Rt1pvGXQt2ZOr8cAAAA="
	turnedWebP = "UklGRpQAAABXRUJQVlA4WAoAAAAIAAAAJwAAFwAAVlA4IFQAAACwBACdASooABgAPhkKhEEhBgNVAAQAYSgB3BfAPwA/" +
		"YD+gcgF2A/YAAvtPltEAAP75vhf//uOw9rZyf///FIgRHNp0f4m6Rt1pvGXQt2ZOr8cAAABFWElGGgAAAE1NACoAAAAIAAEBEgADAAAAAQ" +
		"AGAAAAAAAA"
	losslessWebP = "UklGRjAAAABXRUJQVlA4TCQAAAAvBcAAEBcQAoIi/0ebfwFB0XXLBXaDgrZt2FDfIGYR/Q/McX8="
	alphaWebP    = "UklGRs4AAABXRUJQVlA4WAoAAAAQAAAAHwAADwAAQUxQSCIAAAABFyAQSFKffI2ICAcDadvMxKXlIu903EBE/ycAmBTe" +
		"37YAVlA4IIYAAACQBQCdASogABAAPjEUiEKiISEYBAAgAwS1AE6coL8A/ADQAKMBsgH4gSBv/RuoAA1wBWiCAAD++uZH/iTWPK+91kaW1/" +
		"0ZenxKbX1HP/6xDkzqjKD/yKlR/8GY/9Db7+BNauP/xMMH9/NL/8GYoi2lUBD/4UtM8Irfy4AtMdf/m+ZZUrkAAA=="
)

func decoded64(t testing.TB, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	expect.OK(t, err)
	return data
}

// near reports whether a pixel has a colour but for a difference.
func (p *Picture) near(x, y int, want [3]int, off int) bool {
	for c, v := range want {
		if d := int(p.Pix[3*(y*p.Width+x)+c]) - v; d < -off || d > off {
			return false
		}
	}
	return true
}

func TestDecode_WebP(t *testing.T) {
	type pixel struct {
		x, y   int
		colour [3]int
	}
	for name, c := range map[string]struct {
		file          string
		width, height int
		off           int
		pixels        []pixel
	}{
		// Pillow gives (201, 41, 31) and (20, 60, 181).
		"lossy":  {lossyWebP, 40, 24, 2, []pixel{{0, 0, [3]int{200, 40, 30}}, {39, 23, [3]int{20, 60, 180}}}},
		"turned": {turnedWebP, 24, 40, 2, []pixel{{23, 0, [3]int{200, 40, 30}}, {0, 39, [3]int{20, 60, 180}}}},
		"lossless": {losslessWebP, 6, 4, 1, []pixel{{0, 0, [3]int{255, 0, 0}}, {5, 0, [3]int{255, 255, 255}},
			{0, 3, [3]int{127, 127, 255}}}},
		"alpha": {alphaWebP, 32, 16, 3, []pixel{{10, 1, [3]int{255, 0, 0}}, {31, 0, [3]int{255, 255, 255}},
			{1, 14, [3]int{127, 127, 255}}}},
	} {
		pic := Picture{Orientation: OrientationApply}
		if err := Decode(decoded64(t, c.file), &pic); err != nil || pic.Width != c.width || pic.Height != c.height {
			t.Errorf("%s: %d×%d, %v", name, pic.Width, pic.Height, err)
			continue
		}
		for _, p := range c.pixels {
			if !pic.near(p.x, p.y, p.colour, c.off) {
				t.Errorf("%s: (%d,%d) is %v, want %v", name, p.x, p.y, pic.Pix[3*(p.y*pic.Width+p.x):][:3], p.colour)
			}
		}
	}
}

// stored are pictures of formats without loss.
func stored(t testing.TB, img image.Image) map[string][]byte {
	t.Helper()
	files := map[string][]byte{"PNG": encodePNG(t, img)}
	encode := func(name string, f func(*bytes.Buffer) error) {
		var b bytes.Buffer
		expect.OK(t, f(&b))
		files[name] = b.Bytes()
	}
	encode("BMP", func(b *bytes.Buffer) error { return bmp.Encode(b, img) })
	for name, c := range map[string]tiff.CompressionType{"TIFF": tiff.Uncompressed, "TIFF, deflate": tiff.Deflate} {
		encode(name, func(b *bytes.Buffer) error { return tiff.Encode(b, img, &tiff.Options{Compression: c}) })
	}
	return files
}

func TestDecode_FormatsWithoutLossAreTheSame(t *testing.T) {
	grey, sixteen := image.NewGray(image.Rect(0, 0, 37, 23)), image.NewNRGBA64(image.Rect(0, 0, 37, 23))
	palette := image.NewPaletted(grey.Rect, color.Palette{color.White, color.Black, color.NRGBA{10, 20, 30, 255}})
	for y := range 23 {
		for x := range 37 {
			grey.SetGray(x, y, color.Gray{uint8(3*x + 5*y)})
			sixteen.SetNRGBA64(x, y, color.NRGBA64{uint16(900 * x), uint16(1200 * y), 77, 0xffff})
			palette.SetColorIndex(x, y, uint8((x+y)%3))
		}
	}
	for name, img := range map[string]image.Image{"colour": smooth(37, 23), "grey": grey, "palette": palette,
		"16 bits": sixteen} {
		files := stored(t, img)
		var want Picture
		expect.OK(t, Decode(files["PNG"], &want))
		for format, data := range files {
			var got Picture
			err := Decode(data, &got)
			if err != nil || got.Width != want.Width || got.Height != want.Height || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%s, %s: %d×%d differs, %v", name, format, got.Width, got.Height, err)
			}
			if kind, _, _ := strings.Cut(format, ","); Format(data) != kind || !slices.Contains(Formats(), kind) {
				t.Errorf("%s is a %q", format, Format(data))
			}
		}
	}
}

func TestDecode_ForeignFormatsAreNamed(t *testing.T) {
	for name, start := range map[string]string{
		"HEIC": "\x00\x00\x00\x18ftypheic\x00\x00", "AVIF": "\x00\x00\x00\x20ftypavif", "JPEG XL": "\xff\x0a\x7f",
		"JPEG 2000": "\x00\x00\x00\x0cjP  \r\n\x87\n\x00",
	} {
		err := Decode([]byte(start), new(Picture))
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "convert") ||
			Format([]byte(start)) != name || !slices.Contains(ForeignFormats(), name) {
			t.Errorf("%s: %v, a %q", name, err, Format([]byte(start)))
		}
	}
	for content, want := range map[string]string{
		"image,tags\n1.jpg,dog": `20 bytes of text that start with "image,tags\n1.jpg,dog"`, "\x00\x01ello": "0001656c6c6f",
	} {
		if err := Decode([]byte(content), new(Picture)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A file that is cut short is an error that takes little memory, whatever its header claims.
func TestDecode_CutShortInEveryFormat(t *testing.T) {
	files := stored(t, smooth(37, 23))
	files["WebP"], files["WebP, lossless"] = decoded64(t, lossyWebP), decoded64(t, losslessWebP)
	for name, data := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for n := range len(data) {
			if n%7 > 0 && n > 100 {
				continue
			}
			if err := Decode(data[:n], new(Picture)); err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, %d bytes: %v", name, n, err)
			}
		}
		runtime.ReadMemStats(&after)
		if err := Decode(data[:len(data)/2], new(Picture)); err == nil && name != "TIFF" {
			t.Errorf("half of a %s is one", name)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 256<<20 {
			t.Errorf("%s: took %d bytes", name, taken)
		}
	}
	wide := bytes.Clone(files["BMP"])
	wide[20], wide[24] = 1, 1 // 65,573×65,559 pixels
	if err := Decode(wide, &Picture{MaxPixels: PixelCeiling}); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func TestIsName_TakesAnyCaseAndNothingElse(t *testing.T) {
	for name, want := range map[string]bool{
		"a.jpg": true, "b/c.JPEG": true, "d.WebP": true, "e.tiff": true, "f.tar.bmp": true,
		"": false, "jpg": false, "a.jpg.txt": false, "a.heic": false, "a.jpg/b": false,
	} {
		if IsName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}

func TestVideoFormat_KnowsVideosFromPictures(t *testing.T) {
	for start, want := range map[string]string{
		"\x1a\x45\xdf\xa3\x01": "Matroska or WebM", "\x00\x00\x00\x20ftypisom": "MP4 or QuickTime",
		"RIFF\x00\x00\x00\x00AVI LIST": "AVI", "\x00\x00\x00\x20ftypavif": "", "\x00\x00\x00\x20ftypheic": "",
		"\xff\xd8\xff": "", "GIF89a": "", "RIFF\x00\x00\x00\x00WEBPVP8 ": "", "": "", "path,labels\n": "",
	} {
		if got := VideoFormat([]byte(start)); got != want {
			t.Errorf("%q is %q, want %q", start, got, want)
		}
	}
	var pic Picture
	err := Decode([]byte("\x1a\x45\xdf\xa3 and more"), &pic)
	if err == nil || !strings.Contains(err.Error(), "it is a video (Matroska or WebM)") ||
		!strings.Contains(err.Error(), "nmn frames") {
		t.Errorf("a video in the place of a picture: %v", err)
	}
	for name, want := range map[string]bool{"a.MP4": true, "b/c.mkv": true, "d.gif": false, "e.jpg": false, "mp4": false} {
		if IsVideoName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}

func TestDecode_NamesAnimationsInWebP(t *testing.T) {
	var pic Picture
	err := Decode([]byte("RIFF\x40\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x09\x00\x00\x09\x00\x00ANIM"), &pic)
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "it is an animation") {
		t.Error(err)
	}
}
