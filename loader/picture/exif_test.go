package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
)

// exifData is Exif data that states an orientation, in either order of bytes.
func exifData(order binary.AppendByteOrder, orientation uint16) []byte {
	data := []byte("II*\x00\x08\x00\x00\x00")
	if order == binary.BigEndian {
		data = []byte("MM\x00*\x00\x00\x00\x08")
	}
	data = order.AppendUint16(data, 2)
	data = append(order.AppendUint32(order.AppendUint16(order.AppendUint16(data, 0x100), 3), 1), 9, 9, 0, 0)
	data = order.AppendUint32(order.AppendUint16(order.AppendUint16(data, 0x112), 3), 1)
	data = append(order.AppendUint16(data, orientation), 0, 0)
	return order.AppendUint32(data, 8) // the next directory is this one
}

// withExifJPEG puts Exif data into a JPEG, after a comment.
func withExifJPEG(data, exif []byte) []byte {
	body := append(bytes.Clone(exifHeader), exif...)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xfe, 0, 4, 'h', 'i', 0xff, 0xff, 0xe1}, uint16(len(body)+2))
	return bytes.Join([][]byte{data[:2], segment, body, data[2:]}, nil)
}

// withExifPNG puts Exif data after the header of a PNG.
func withExifPNG(data, exif []byte) []byte {
	const header = 8 + 25
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(exif))), "eXIf"...)
	chunk = append(chunk, exif...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return bytes.Join([][]byte{data[:header], chunk, data[header:]}, nil)
}

// upright returns the position in a stored picture of width×height of a displayed pixel, by the definition of
// Exif: which side of the stored picture row 0 and column 0 are.
func upright(orientation, width, height, x, y int) (column, row int) {
	switch orientation {
	case 2: // top, right
		return width - 1 - x, y
	case 3: // bottom, right
		return width - 1 - x, height - 1 - y
	case 4: // bottom, left
		return x, height - 1 - y
	case 5: // left, top
		return y, x
	case 6: // the stored row 0 is the right side, the stored column 0 the top
		return y, height - 1 - x
	case 7: // right, bottom
		return width - 1 - y, height - 1 - x
	case 8: // the stored row 0 is the left side, the stored column 0 the bottom
		return width - 1 - y, x
	}
	return x, y
}

func TestDecode_OrientationsAreApplied(t *testing.T) {
	const width, height = 70, 41
	png, jpeg := encodePNG(t, smooth(width, height)), encodedJPEG(t, smooth(width, height))
	for orientation := 1; orientation <= 8; orientation++ {
		tiff := exifData(binary.LittleEndian, uint16(orientation)) // which has the form of Exif data
		if got := StoredOrientation(tiff); got != orientation {
			t.Errorf("TIFF: orientation %d, want %d", got, orientation)
		}
		for name, data := range map[string][]byte{
			"PNG":  withExifPNG(png, exifData(binary.LittleEndian, uint16(orientation))),
			"JPEG": withExifJPEG(jpeg, exifData(binary.BigEndian, uint16(orientation))),
		} {
			if got := StoredOrientation(data); got != orientation {
				t.Errorf("%s: orientation %d, want %d", name, got, orientation)
			}
			var stored Picture
			pic := Picture{Orientation: OrientationApply}
			for range 2 { // once more in the same memory
				expect.OK(t, Decode(data, &stored))
				expect.OK(t, Decode(data, &pic))
				if turned := orientation > 4; stored.Width != width || turned && pic.Width != height ||
					!turned && pic.Width != width || pic.Width*pic.Height != width*height {
					t.Fatalf("%s, %d: stored %d×%d, upright %d×%d", name, orientation, stored.Width, stored.Height,
						pic.Width, pic.Height)
				}
				for y := range pic.Height {
					for x := range pic.Width {
						column, row := upright(orientation, width, height, x, y)
						got, want := pic.Pix[3*(y*pic.Width+x):][:3], stored.Pix[3*(row*width+column):][:3]
						if !bytes.Equal(got, want) {
							t.Fatalf("%s, %d: (%d,%d) is %v, want %v", name, orientation, x, y, got, want)
						}
					}
				}
			}
		}
	}
}

func TestStoredOrientation_OfNoSenseIsThatOfNone(t *testing.T) {
	jpeg, png := encodedJPEG(t, smooth(9, 5)), encodePNG(t, smooth(9, 5))
	whole := exifData(binary.LittleEndian, 6)
	hostile := map[string][]byte{
		"none":                 jpeg,
		"zero":                 withExifJPEG(jpeg, exifData(binary.BigEndian, 0)),
		"nine":                 withExifPNG(png, exifData(binary.BigEndian, 9)),
		"empty":                withExifJPEG(jpeg, nil),
		"another order":        withExifJPEG(jpeg, append([]byte("XX"), whole[2:]...)),
		"directory far away":   withExifJPEG(jpeg, append([]byte("II*\x00\xff\xff\xff\xff"), whole[8:]...)),
		"directory as header":  withExifJPEG(jpeg, append([]byte("II*\x00\x00\x00\x00\x00"), whole[8:]...)),
		"segment beyond end":   {0xff, 0xd8, 0xff, 0xe1, 0xff, 0xff, 'E', 'x'},
		"chunk beyond the end": append(bytes.Clone(png[:33]), 0xff, 0xff, 0xff, 0xff, 'e', 'X', 'I', 'f', 0, 0, 0, 0),
	}
	for n := range whole[:34] {
		hostile["cut"+string(rune('0'+n))] = withExifJPEG(jpeg, whole[:n])
	}
	many := withExifJPEG(jpeg, whole)
	at := bytes.Index(many, []byte{3, 0, 1, 0, 0, 0, 6})
	many[at+4] = 0x80 // two billion values
	hostile["huge count"] = many
	for name, data := range hostile {
		if got := StoredOrientation(data); got != 1 {
			t.Errorf("%s: orientation %d", name, got)
		}
		if Format(data) == "" || name[0] == 's' || name == "chunk beyond the end" {
			continue
		}
		if err := Decode(data, &Picture{Orientation: OrientationApply, Level: simd.Generic}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOrientation(f *testing.F) {
	for i := range uint16(10) {
		f.Add(exifData(binary.LittleEndian, i))
		f.Add(withExifPNG(encodePNG(f, smooth(3, 2)), exifData(binary.BigEndian, i)))
		f.Add(withExifJPEG([]byte("\xff\xd8\xff\xda\x00\x00"), exifData(binary.BigEndian, i)))
	}
	f.Add([]byte("RIFF\x20\x00\x00\x00WEBPVP8XEXIF\x08\x00\x00\x00II*\x00\x08\x00\x00\x00"))
	f.Add([]byte("II*\x00\x08\x00\x00\x00\xff\xff\x12\x01\x04\x00\x01\x00\x00\x00\x08\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := StoredOrientation(data); got < 1 || got > 8 {
			t.Fatal(got)
		}
		if got := orientationOf(data); got < 1 || got > 8 {
			t.Fatal(got)
		}
	})
}
