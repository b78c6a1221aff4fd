package jpeg

import (
	"bytes"
	"fmt"
)

// maxScans bounds the work that a small file can ask for: each scan of a progressive file goes over all
// blocks. Encoders write about ten.
const maxScans = 256

var errScans = fmt.Errorf("more than %d scans: no camera or program writes that many, and each covers the whole "+
	"picture; save it again as JPEG or PNG", maxScans)

// maxScanPixels bounds the total pixels over all scans of a file: twenty scans of a picture of 100
// megapixels.
const maxScanPixels int64 = 1 << 31

// CheckScans refuses a file of more than 256 scans, or whose scans go over more than 2³¹ pixels together, whichever
// decoder it is meant for. It looks at markers and the size in the frame header, up to the marker that ends the
// picture, and decodes nothing. A file that is damaged in another way passes: that is for its decoder to say.
func CheckScans(data []byte) error {
	scans := 0
	var width, height int64 // size of the frame
	for at := 0; ; {
		next := bytes.IndexByte(data[at:], 0xff)
		if next < 0 || at+next+1 >= len(data) {
			return nil
		}
		at += next + 1
		switch code := data[at]; {
		case code == eoi:
			return nil
		case code == 0xff: // fills up; the next may be the marker
			continue
		case code < sof0, code >= rst0 && code <= soi: // has no length
			at++
			continue
		case code == sos:
			if scans++; scans > maxScans {
				return errScans
			}
			if over := int64(scans) * width * height; over > maxScanPixels {
				return fmt.Errorf("%d scans or more of %d×%d pixels go over %d pixels together, more than %d; save the "+
					"picture again as a JPEG that is not progressive, or as PNG", scans, width, height, over, maxScanPixels)
			}
		case isFrame(code) && at+7 < len(data): // after the code: length of 2 bytes, precision, height, width
			height = int64(data[at+4])<<8 | int64(data[at+5])
			width = int64(data[at+6])<<8 | int64(data[at+7])
		}
		if at+2 >= len(data) {
			return nil
		}
		at += 1 + max(2, int(data[at+1])<<8|int(data[at+2]))
		if at >= len(data) {
			return nil
		}
	}
}

// isFrame reports whether a marker begins a frame header: between SOF0 and SOF15 all do but DHT, JPG and DAC.
func isFrame(code uint8) bool {
	return code >= sof0 && code < rst0 && code != dht && code != 0xc8 && code != 0xcc
}
