package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Orientation selects whether pictures are turned as their files ask for.
type Orientation string

const (
	// OrientationApply turns and mirrors a picture by the Exif orientation of its file, so that it is upright
	// as in a viewer: ImageOps.exif_transpose of the Python library Pillow.
	OrientationApply Orientation = "apply"
	// OrientationIgnore takes the pixels as they are stored. The zero value of an Orientation means the same.
	OrientationIgnore Orientation = "ignore"
)

// Validate refuses an unknown name; the empty one is OrientationIgnore.
func (o Orientation) Validate() error {
	switch o {
	case "", OrientationApply, OrientationIgnore:
		return nil
	}
	return fmt.Errorf("orientation %q is unknown; choose %q or %q", o, OrientationApply, OrientationIgnore)
}

// StoredOrientation returns the Exif orientation in a file of a JPEG, a PNG, a WebP or a TIFF, 1 to 8. It is
// 1 for a picture that is stored upright, and also if the file has no valid orientation.
func StoredOrientation(data []byte) int {
	switch Format(data) {
	case jpegFormat:
		return orientationOf(exifOfJPEG(data))
	case pngFormat:
		return orientationOf(exifOfPNG(data))
	case webpFormat:
		return orientationOf(exifOfWebP(data))
	case tiffFormat:
		return orientationOf(data)
	}
	return 1
}

// exifHeader stands before the Exif data of a JPEG, and of some WebP.
var exifHeader = []byte("Exif\x00\x00")

// exifOfJPEG is the content of the first segment with Exif data; nil for none.
func exifOfJPEG(data []byte) []byte {
	const app1, startOfScan, endOfImage = 0xe1, 0xda, 0xd9
	for at := 2; at+4 <= len(data); {
		if data[at] != 0xff {
			return nil
		}
		kind := data[at+1]
		switch {
		case kind == 0xff: // a fill byte
			at++
			continue
		case kind == 1 || kind >= 0xd0 && kind <= 0xd7: // markers without a segment
			at += 2
			continue
		case kind == startOfScan || kind == endOfImage:
			return nil
		}
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		if size < 2 || at+2+size > len(data) {
			return nil
		}
		if exif, is := bytes.CutPrefix(data[at+4:at+2+size], exifHeader); is && kind == app1 {
			return exif
		}
		at += 2 + size
	}
	return nil
}

// exifOfPNG is the content of the chunk eXIf; nil for none.
func exifOfPNG(data []byte) []byte {
	const signature, around = 8, 12 // bytes; a chunk has length and name ahead of its content and a checksum after it
	for at := signature; at+around <= len(data); {
		size := int64(binary.BigEndian.Uint32(data[at:]))
		if int64(len(data)-at-around) < size {
			return nil
		}
		if string(data[at+4:at+8]) == "eXIf" {
			return data[at+8 : at+8+int(size)]
		}
		at += around + int(size)
	}
	return nil
}

// exifOfWebP is the content of the chunk EXIF; nil for none.
func exifOfWebP(data []byte) []byte {
	const riff, around = 12, 8
	for at := riff; at+around <= len(data); {
		size := int64(binary.LittleEndian.Uint32(data[at+4:]))
		if int64(len(data)-at-around) < size {
			return nil
		}
		if string(data[at:at+4]) == "EXIF" {
			return bytes.TrimPrefix(data[at+around:at+around+int(size)], exifHeader)
		}
		at += around + int(size+size&1)
	}
	return nil
}

// orientationOf finds the orientation in the first directory of Exif data, which have the form of a TIFF file. No
// other directory is followed, so that none can lead back.
func orientationOf(exif []byte) int {
	first, order := tiffDirectory(exif)
	for ; len(first) >= tiffEntry; first = first[tiffEntry:] {
		if order.Uint16(first) == tagOrientation {
			if value := tiffNumber(first, order); value >= 1 && value <= 8 {
				return int(value)
			}
			return 1
		}
	}
	return 1
}

const (
	tiffEntry      = 12 // bytes
	tagCompression = 0x103
	tagOrientation = 0x112
)

// tiffDirectory is the entries of the first directory, as many of those that it claims as there are whole.
func tiffDirectory(data []byte) (entries []byte, order binary.ByteOrder) {
	const header, count = 8, 2
	if len(data) < header {
		return nil, nil
	}
	switch string(data[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return nil, nil
	}
	at := int64(order.Uint32(data[4:]))
	if at < header || at > int64(len(data)-count) {
		return nil, nil
	}
	entries = data[at+count:]
	return entries[:min(len(entries), tiffEntry*int(order.Uint16(data[at:])))], order
}

// tiffNumber is the value of an entry with a single whole number; 0 for another.
func tiffNumber(entry []byte, order binary.ByteOrder) uint32 {
	const bytes, shorts, longs = 1, 3, 4
	if order.Uint32(entry[4:]) != 1 {
		return 0
	}
	switch order.Uint16(entry[2:]) {
	case bytes:
		return uint32(entry[8])
	case shorts:
		return uint32(order.Uint16(entry[8:]))
	case longs:
		return order.Uint32(entry[8:])
	}
	return 0
}

// turns maps the orientations from 1 on to the position of a displayed picture in the stored one: whether
// rows are columns there, and whether x and y, before they are swapped, count from the other end.
var turns = [8]struct{ transposed, fromRight, fromBottom bool }{
	{},
	{fromRight: true},
	{fromRight: true, fromBottom: true},
	{fromBottom: true},
	{transposed: true},
	{transposed: true, fromBottom: true},
	{transposed: true, fromRight: true, fromBottom: true},
	{transposed: true, fromRight: true},
}

// turn puts the pixels of a picture, stored in an orientation, upright.
func (p *Picture) turn(orientation int) {
	if orientation == 1 {
		return
	}
	how := turns[orientation-1]
	width, height := p.Width, p.Height
	start, alongX, alongY := 0, 1, width // in pixels: the first one, and to the next in what is stored
	if how.fromRight {
		start, alongX = start+width-1, -1
	}
	if how.fromBottom {
		start, alongY = start+width*(height-1), -width
	}
	if how.transposed {
		width, height, alongX, alongY = height, width, alongY, alongX
	}
	if cap(p.turned) < len(p.Pix) {
		p.turned = make([]uint8, len(p.Pix))
	}
	to := p.turned[:len(p.Pix)]
	const block = 32 // pixels: a block stays in the first cache, however far apart rows are
	for top := 0; top < height; top += block {
		for left := 0; left < width; left += block {
			right := min(left+block, width)
			for y := top; y < min(top+block, height); y++ {
				from := 3 * (start + alongX*left + alongY*y)
				for at := 3 * (y*width + left); at < 3*(y*width+right); at += 3 {
					to[at], to[at+1], to[at+2] = p.Pix[from], p.Pix[from+1], p.Pix[from+2]
					from += 3 * alongX
				}
			}
		}
	}
	p.Pix, p.turned = to, p.Pix
	p.Width, p.Height = width, height
}
