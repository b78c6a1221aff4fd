package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// fileFormat is one file format. leastBytes is a lower bound of the size of a complete file with
// that many pixels: it keeps a header of a few bytes from claiming memory for millions of pixels.
type fileFormat struct {
	name          string
	magic         []string // how files start; a ? stands for any byte
	header        func(io.Reader) (image.Config, error)
	decode        func(io.Reader) (image.Image, error)
	leastBytes    func(data []byte, pixels int64) int64
	bytesPerPixel int // the most memory that the decoder takes, including the pixels of the picture
}

// Names of formats that something is done about.
const (
	jpegFormat = "JPEG"
	pngFormat  = "PNG"
	webpFormat = "WebP"
	tiffFormat = "TIFF"
)

var fileFormats = [...]fileFormat{
	{
		name: jpegFormat, magic: []string{"\xff\xd8\xff"}, header: jpeg.DecodeConfig, decode: jpeg.Decode,
		// One bit at least codes the mean of each block of 8×8 pixels.
		leastBytes:    func(_ []byte, pixels int64) int64 { return pixels / 64 / 8 },
		bytesPerPixel: stdJPEGBytes,
	},
	{
		name: pngFormat, magic: []string{"\x89PNG\r\n\x1a\n"}, header: png.DecodeConfig, decode: png.Decode,
		leastBytes: pngLeastBytes, bytesPerPixel: pngBytes,
	},
	{
		name: "GIF", magic: []string{"GIF8"}, header: gif.DecodeConfig, decode: gif.Decode,
		// The frame may be smaller than the screen, whose size the header gives.
		leastBytes: anyBytes, bytesPerPixel: gifBytes,
	},
	{
		name: webpFormat, magic: []string{"RIFF????WEBPVP8"}, header: webpHeader, decode: webp.Decode,
		// Its arithmetic coder may need almost no bytes for uniform areas.
		leastBytes: anyBytes, bytesPerPixel: webpBytes,
	},
	{
		name: "BMP", magic: []string{"BM????\x00\x00\x00\x00"}, header: bmp.DecodeConfig, decode: bmp.Decode,
		leastBytes: bmpLeastBytes, bytesPerPixel: bmpBytes,
	},
	{
		name: tiffFormat, magic: []string{"II*\x00", "MM\x00*"}, header: tiff.DecodeConfig, decode: tiff.Decode,
		leastBytes: tiffLeastBytes, bytesPerPixel: tiffBytes,
	},
}

func anyBytes([]byte, int64) int64 { return 0 }

// startingAs is a format by how its files start; a ? stands for any byte.
type startingAs struct {
	name  string
	magic []string
}

// foreign are formats of pictures that are known and not read.
var foreign = []startingAs{
	{"AVIF", []string{"????ftypavif", "????ftypavis"}},
	{"HEIC", []string{"????ftyphei", "????ftyphev", "????ftypmif1", "????ftypmsf1"}},
	{"JPEG 2000", []string{"\x00\x00\x00\x0cjP  \r\n\x87\n", "\xff\x4f\xff\x51"}},
	{"JPEG XL", []string{"\x00\x00\x00\x0cJXL \r\n\x87\n", "\xff\x0a"}},
}

// videos are the formats of video files.
var videos = []startingAs{
	{"Matroska or WebM", []string{"\x1a\x45\xdf\xa3"}},
	{"MP4 or QuickTime", []string{"????ftyp", "????moov", "????mdat", "????wide"}},
	{"AVI", []string{"RIFF????AVI "}},
	{"ASF or WMV", []string{"\x30\x26\xb2\x75\x8e\x66\xcf\x11"}},
	{"FLV", []string{"FLV\x01"}},
	{"MPEG", []string{"\x00\x00\x01\xba", "\x00\x00\x01\xb3"}},
	{"Ogg", []string{"OggS"}},
	{"MXF", []string{"\x06\x0e\x2b\x34\x02\x05\x01\x01"}},
	{"YUV4MPEG2", []string{"YUV4MPEG2 "}},
}

// Formats are the names of the formats that Decode reads.
func Formats() []string {
	var names []string
	for _, format := range fileFormats {
		names = append(names, format.name)
	}
	return names
}

// ForeignFormats returns the names of formats that Format recognises and Decode does not read.
func ForeignFormats() []string {
	var names []string
	for _, format := range foreign {
		names = append(names, format.name)
	}
	return names
}

// Format is the name of the format of a file, one of Formats or of ForeignFormats, by how it starts; empty for another.
func Format(data []byte) string {
	if format, known := sniff(data); known {
		return format.name
	}
	return nameOf(data, foreign)
}

// VideoFormat names the format of a video file by how it starts; empty if it is none, or a picture.
func VideoFormat(data []byte) string {
	if Format(data) != "" {
		return ""
	}
	return nameOf(data, videos)
}

func nameOf(data []byte, formats []startingAs) string {
	for _, format := range formats {
		if startsAs(data, format.magic) {
			return format.name
		}
	}
	return ""
}

func sniff(data []byte) (fileFormat, bool) {
	for _, format := range fileFormats {
		if startsAs(data, format.magic) {
			return format, true
		}
	}
	return fileFormat{}, false
}

// startsAs reports whether data start as one of the magics; a ? stands for any byte.
func startsAs(data []byte, magics []string) bool {
	for _, magic := range magics {
		same := len(data) >= len(magic)
		for i := 0; same && i < len(magic); i++ {
			same = magic[i] == '?' || data[i] == magic[i]
		}
		if same {
			return true
		}
	}
	return false
}

// unreadable returns the likely kind of a file in none of the formats, and what to do about it.
func unreadable(data []byte) string {
	if name := Format(data); name != "" {
		return fmt.Sprintf("its format is %s, which is not read: convert it to JPEG or PNG, as magick IN OUT.jpg of "+
			"ImageMagick does", name)
	}
	if name := VideoFormat(data); name != "" {
		return fmt.Sprintf("it is a video (%s), not a picture: nmn frames takes frames of it", name)
	}
	start := data[:min(24, len(data))]
	if !bytes.ContainsFunc(start, func(r rune) bool { return r >= utf8.RuneSelf || r < ' ' && !unicode.IsSpace(r) }) {
		return fmt.Sprintf("no picture of a known format: %d bytes of text that start with %q", len(data), start)
	}
	return fmt.Sprintf("no picture of a known format: %d bytes that start with %x", len(data), start[:min(8, len(start))])
}

// pngLeastBytes uses that deflate shrinks by a factor of 1032 at most.
func pngLeastBytes(data []byte, pixels int64) int64 {
	const depthAt, kindAt = 24, 25 // the header chunk stands first
	if len(data) <= kindAt {
		return int64(kindAt) + 1
	}
	channels := int64(1) // grey, or an index into a palette
	switch data[kindAt] {
	case 2:
		channels = 3
	case 4:
		channels = 2
	case 6:
		channels = 4
	}
	return pixels * channels * int64(data[depthAt]) / 8 / 1032
}

// bmpLeastBytes uses that pixels are stored as they are.
func bmpLeastBytes(data []byte, pixels int64) int64 {
	const depthAt = 28
	if len(data) < depthAt+2 {
		return depthAt + 2
	}
	return pixels * int64(data[depthAt]) / 8
}

// tiffLeastBytes uses how far each compression can go, for pixels of one bit.
func tiffLeastBytes(data []byte, pixels int64) int64 {
	entries, order := tiffDirectory(data)
	for ; len(entries) >= tiffEntry; entries = entries[tiffEntry:] {
		if order.Uint16(entries) != tagCompression {
			continue
		}
		switch tiffNumber(entries, order) {
		case 1: // none
			return pixels / 8
		case 5: // LZW: a code of 9 bits or more for 4,096 bytes at most
			return pixels / 8 / 4096
		case 8, 32946: // deflate
			return pixels / 8 / 1032
		case 32773: // PackBits: two bytes for 128
			return pixels / 8 / 64
		}
	}
	return 0
}
