// Package npy reads and writes the .npy format of NumPy: a magic number, a Python dictionary with type, order
// and shape, then the elements. The header is treated as hostile input. Callers interpret the data.
package npy

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"nmn/internal/fault"
	"nmn/internal/half"
)

// Header is the dictionary at the start of an .npy file.
type Header struct {
	Descr   string // type of the elements as NumPy spells it: <f4
	Fortran bool   // columns are contiguous
	Shape   []int
	Width   int // bytes of an element

	kind  byte // f, i, u or b
	order binary.ByteOrder
}

// maxHeader limits the header of a file. A matrix needs about a hundred bytes.
const maxHeader = 1 << 16

// Magic is the start of every file. Two bytes of version follow.
const Magic = "\x93NUMPY"

// ReadHeader reads the header of a file, and returns the number of bytes up to the data too. Errors
// about its content wrap ErrFormat.
func ReadHeader(r io.Reader) (*Header, int64, error) {
	start := make([]byte, len(Magic)+2)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:len(Magic)]) != Magic {
		return nil, 0, faultf("does not begin like an .npy file")
	}
	width := 4
	switch version := start[len(Magic)]; version {
	case 1:
		width = 2
	case 2, 3:
	default:
		return nil, 0, faultf(".npy version %d, want 1 to 3", version)
	}
	field := make([]byte, 4)
	if _, err := io.ReadFull(r, field[:width]); err != nil {
		return nil, 0, faultf(".npy header is cut short")
	}
	n := binary.LittleEndian.Uint32(field)
	if n > maxHeader {
		return nil, 0, faultf(".npy header of %d bytes, at most %d", n, maxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, 0, faultf(".npy header is cut short")
	}
	h, err := parseHeader(string(text))
	return h, int64(len(start) + width + len(text)), err
}

// parseHeader reads a Python dictionary such as
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
func parseHeader(text string) (*Header, error) {
	h := &Header{}
	p := &literal{rest: text}
	seen := map[string]bool{}
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		key := p.quoted()
		p.expect(":")
		if p.err == nil && seen[key] {
			p.fail("key %q is repeated", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			h.Descr = p.quoted()
		case "fortran_order":
			h.Fortran = p.boolean()
		case "shape":
			h.Shape = p.tuple()
		default:
			p.fail("unknown key %.40q", key)
		}
		if !p.accept(",") {
			p.expect("}")
			break
		}
	}
	if p.err == nil && strings.TrimSpace(p.rest) != "" {
		p.fail("text after the dictionary")
	}
	if p.err == nil && len(seen) != 3 {
		p.fail("want the keys descr, fortran_order and shape")
	}
	if p.err != nil {
		return nil, p.err
	}
	return h, h.setType()
}

// setType understands descr: byte order, kind and width.
func (h *Header) setType() error {
	switch h.Descr {
	case "<f2", "<f4", "<f8", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8",
		">f2", ">f4", ">f8", ">i2", ">i4", ">i8", ">u2", ">u4", ">u8",
		"|i1", "|u1", "|b1":
	default:
		return faultf(".npy elements of type %.40q, want float16 to float64, an integer or bool; write "+
			"text, such as names of labels, as a table (.csv or .parquet)", h.Descr)
	}
	h.order, h.kind, h.Width = byteOrder(h.Descr[0]), h.Descr[1], int(h.Descr[2]-'0')
	return nil
}

// literal takes a Python literal apart. After the first error every method does nothing.
type literal struct {
	rest string
	err  error
}

func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = faultf(".npy header: "+format, args...)
	}
}

func (p *literal) accept(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " \n\t\r")
	if p.err != nil || !strings.HasPrefix(p.rest, token) {
		return false
	}
	p.rest = p.rest[len(token):]
	return true
}

func (p *literal) expect(token string) {
	if !p.accept(token) {
		p.fail("want %q at %.20q", token, p.rest)
	}
}

func (p *literal) quoted() string {
	for _, quote := range []string{"'", `"`} {
		if p.accept(quote) {
			value, rest, ok := strings.Cut(p.rest, quote)
			if !ok {
				break
			}
			p.rest = rest
			return value
		}
	}
	p.fail("want a quoted string at %.20q (structured arrays are not read)", p.rest)
	return ""
}

func (p *literal) boolean() bool {
	if p.accept("True") {
		return true
	}
	p.expect("False")
	return false
}

// tuple reads (), (3,), (3, 4) and so on, up to the 32 dimensions of NumPy.
func (p *literal) tuple() []int {
	var out []int
	p.expect("(")
	for p.err == nil && !p.accept(")") {
		end := 0
		for end < len(p.rest) && p.rest[end] >= '0' && p.rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(p.rest[:end])
		if err != nil || len(out) == 32 {
			p.fail("shape at %.20q", p.rest)
			return nil
		}
		out = append(out, n)
		p.rest = p.rest[end:]
		if !p.accept(",") {
			p.expect(")")
			break
		}
	}
	return out
}

// ErrFormat is wrapped by every error about a header that does not follow the format, or that needs an
// unsupported feature: structured and pickled arrays, complex numbers, text.
var ErrFormat = errors.New("not an .npy file that can be read")

func faultf(format string, args ...any) error { return fault.Newf(ErrFormat, format, args...) }

// Float64 widens one element to float64.
func (h *Header) Float64(b []byte) float64 {
	var bits uint64
	switch h.Width {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(h.order.Uint16(b))
	case 4:
		bits = uint64(h.order.Uint32(b))
	default:
		bits = h.order.Uint64(b)
	}
	switch {
	case h.kind == 'f' && h.Width == 8:
		return math.Float64frombits(bits)
	case h.kind == 'f' && h.Width == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case h.kind == 'f':
		return float64(half.Float32(uint16(bits)))
	case h.kind == 'i':
		unused := 64 - 8*h.Width
		return float64(int64(bits<<unused) >> unused) // sign extension
	}
	return float64(bits)
}

// Float32s decodes len(dst) elements, rounded to float32. src has Width bytes for each of them.
func (h *Header) Float32s(dst []float32, src []byte) {
	if h.Descr == "<f4" { // what nearly all files hold
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
		return
	}
	for i := range dst {
		dst[i] = float32(h.Float64(src[i*h.Width : (i+1)*h.Width]))
	}
}

func byteOrder(mark byte) binary.ByteOrder {
	if mark == '>' {
		return binary.BigEndian
	}
	return binary.LittleEndian
}
