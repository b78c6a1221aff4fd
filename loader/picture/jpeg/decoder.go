package jpeg

import (
	"errors"
	"fmt"
	"io"

	"nmn/kernels/simd"
)

// ErrUnsupported marks a file that is no picture of the kinds that a Decoder takes. It may be a good one.
var ErrUnsupported = errors.New("this kind of JPEG is not decoded here")

var errNoQuantisation = errors.New("a quantisation table is missing")

const maxComponents = 3

// Decoder decodes files one after the other. The zero Decoder is ready and computes in Go. It is not safe
// for concurrent use.
type Decoder struct {
	Level simd.Level // instruction set; no pixel depends on it

	data []byte
	at   int // position of the next marker
	frame
	quant    [4]quantTable
	tables   [2][4]huffman // tables of DC differences and of AC coefficients
	interval int           // MCUs between restart markers, 0 for none
	scans    int
	scan     scan
	entropy  entropy
	colour   colour
}

// Markers (T.81, table B.1).
const (
	sof0  = 0xc0
	sof1  = 0xc1
	sof2  = 0xc2
	dht   = 0xc4
	rst0  = 0xd0
	rst7  = 0xd7
	soi   = 0xd8
	eoi   = 0xd9
	sos   = 0xda
	dqt   = 0xdb
	dri   = 0xdd
	app0  = 0xe0
	app14 = 0xee
	app15 = 0xef
	com   = 0xfe
)

// Header reads a file up to its frame header and returns the size of the picture in pixels, which may be
// 0. The Decoder keeps data until Decode has been called.
func (d *Decoder) Header(data []byte) (width, height int, err error) {
	d.begin(data)
	if len(data) < 2 || data[0] != 0xff || data[1] != soi {
		return 0, 0, errors.New("the file does not begin as a JPEG does")
	}
	d.at = 2
	for !d.framed() {
		marker, err := d.segment()
		if err != nil {
			return 0, 0, err
		}
		if marker == sos || marker == eoi {
			return 0, 0, errors.New("no frame header before the first scan")
		}
	}
	return d.width, d.height, nil
}

// Decode writes the picture that Header has looked at as RGB of 3·width·height bytes. A file that ends
// before its end marker is not taken for a picture.
func (d *Decoder) Decode(rgb []uint8) error {
	if !d.framed() || len(rgb) != 3*d.width*d.height || len(rgb) == 0 {
		return fmt.Errorf("jpeg: %d bytes for a picture of %d×%d pixels", len(rgb), d.width, d.height)
	}
	defer func() { d.data = nil }()
	d.layOut()
	for {
		marker, err := d.segment()
		if err != nil {
			return err
		}
		if marker == sos {
			if err := d.readScan(); err != nil {
				return fmt.Errorf("scan %d: %w", d.scans, err)
			}
		}
		if marker == eoi {
			break
		}
	}
	for i := range d.comps() {
		if !d.comps()[i].seen {
			return fmt.Errorf("no scan has component %d", i)
		}
	}
	if d.progressive {
		d.reconstruct()
	}
	d.paint(rgb)
	return nil
}

// begin forgets the previous file, but keeps its memory.
func (d *Decoder) begin(data []byte) {
	d.data, d.at, d.interval, d.scans = data, 0, 0, 0
	d.frame.begin()
	for i := range d.quant {
		d.quant[i].defined = false
		d.tables[0][i].defined, d.tables[1][i].defined = false, false
	}
}

var errEnds = fmt.Errorf("the file is cut short: %w", io.ErrUnexpectedEOF)

// marker goes to the next marker and returns it. Bytes that are no marker are skipped, as in other decoders.
func (d *Decoder) marker() (uint8, error) {
	for ; d.at+1 < len(d.data); d.at++ {
		code := d.data[d.at+1]
		if d.data[d.at] == 0xff && code != 0 && code != 0xff && (code < rst0 || code > rst7) {
			d.at += 2
			return code, nil
		}
	}
	return 0, errEnds
}

// segment reads the next segment; of a scan it reads only the header.
func (d *Decoder) segment() (marker uint8, err error) {
	marker, err = d.marker()
	if err != nil || marker == eoi {
		return marker, err
	}
	rest := d.data[d.at:]
	if len(rest) < 2 {
		return 0, errEnds
	}
	length := int(rest[0])<<8 | int(rest[1])
	if length < 2 {
		return 0, fmt.Errorf("segment %#x of %d bytes", marker, length)
	}
	if length > len(rest) {
		return 0, errEnds
	}
	d.at += length
	if err := d.take(marker, rest[2:length]); err != nil {
		return 0, fmt.Errorf("segment %#x at byte %d: %w", marker, d.at-length-2, err)
	}
	return marker, nil
}

func (d *Decoder) take(marker uint8, body []byte) error {
	switch marker {
	case sof0, sof1, sof2:
		return d.frame.define(body, marker == sof2)
	case dht:
		return d.huffmanTables(body)
	case dqt:
		return d.quantTables(body)
	case dri:
		if len(body) != 2 {
			return fmt.Errorf("a restart interval in %d bytes", len(body))
		}
		d.interval = int(body[0])<<8 | int(body[1])
	case sos:
		return d.scanHeader(body)
	case app0:
		d.jfif = d.jfif || len(body) >= 5 && string(body[:5]) == "JFIF\x00"
	case app14:
		if len(body) >= 12 && string(body[:5]) == "Adobe" {
			d.adobe, d.transform = true, body[11]
		}
	default:
		switch {
		case marker >= app0 && marker <= app15, marker == com:
		case marker < sof0 || marker == soi:
			return errors.New("unknown marker")
		default:
			return ErrUnsupported
		}
	}
	return nil
}

func (d *Decoder) huffmanTables(body []byte) error {
	for len(body) > 0 {
		class, index := body[0]>>4, body[0]&15
		if class > 1 || index > 3 {
			return fmt.Errorf("Huffman table %d of class %d", index, class)
		}
		n, err := d.tables[class][index].define(body[1:])
		if err != nil {
			return err
		}
		body = body[1+n:]
	}
	return nil
}

// quantTable is what coefficients are multiplied with, row by row.
type quantTable struct {
	defined bool
	factors [64]uint16
}

func (d *Decoder) quantTables(body []byte) error {
	for len(body) > 0 {
		wide, index := int(body[0]>>4), body[0]&15
		if wide > 1 || index > 3 || len(body) < 1+64*(1+wide) {
			return fmt.Errorf("quantisation table %d of %d bytes", body[0], len(body)-1)
		}
		body = body[1:]
		t := &d.quant[index]
		t.defined = true
		for k := range 64 {
			factor := uint16(body[k*(1+wide)])
			if wide == 1 {
				factor = factor<<8 | uint16(body[2*k+1])
			}
			t.factors[natural[k+1]] = factor
		}
		body = body[64*(1+wide):]
	}
	return nil
}
