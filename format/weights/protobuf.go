package weights

import (
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// message walks the fields of a protobuf message in a file without reading their contents. After an error
// next returns false, and err holds it.
type message struct {
	r       io.ReaderAt
	at, end int64 // of the part not walked yet
	left    *int  // fields that may still be walked, in this message and those around and in it

	field int32
	kind  protowire.Type
	value uint64 // of a varint
	start int64  // of the content of a field of bytes, which ends at at
	err   error
}

// maxFields limits the fields of a file that are visited one by one. A layer has some thirty.
const maxFields = 1 << 20

// newMessage is the message of the whole file.
func newMessage(r io.ReaderAt, size int64) message {
	left := maxFields
	return message{r: r, end: size, left: &left}
}

// section is a part of a file.
type section struct{ at, length int64 }

// next advances to the next field.
func (m *message) next() bool {
	if m.err != nil || m.at >= m.end {
		return false
	}
	at := m.at
	fail := func(what string) bool {
		m.err = faultf("byte %d: %s: it is damaged, cut short, or no .caffemodel", at, what)
		return false
	}
	if *m.left--; *m.left < 0 {
		return fail("more fields than a network has")
	}
	tag, ok := m.varint()
	number, kind := protowire.DecodeTag(tag)
	if !ok || number < protowire.MinValidNumber {
		return fail("no field of a protobuf message")
	}
	m.field, m.kind = int32(number), kind
	switch kind {
	case protowire.VarintType:
		if m.value, ok = m.varint(); !ok {
			return fail("a number that has no end")
		}
	case protowire.Fixed32Type:
		m.at += 4
	case protowire.Fixed64Type:
		m.at += 8
	case protowire.BytesType:
		length, ok := m.varint()
		if !ok || length > uint64(m.end-m.at) {
			return fail("a field that is longer than what it is in")
		}
		m.start = m.at
		m.at += int64(length)
	default:
		return fail("a field of an unknown kind")
	}
	if m.at > m.end {
		return fail("a number that is cut off")
	}
	return true
}

// varint reads a number and moves past it.
func (m *message) varint() (uint64, bool) {
	const longest = 10
	var b [longest]byte
	n, err := m.r.ReadAt(b[:min(longest, m.end-m.at)], m.at)
	if err != nil && err != io.EOF {
		return 0, false
	}
	v, length := protowire.ConsumeVarint(b[:n])
	if length < 0 {
		return 0, false
	}
	m.at += int64(length)
	return v, true
}

func (m *message) isBytes() bool  { return m.kind == protowire.BytesType }
func (m *message) isVarint() bool { return m.kind == protowire.VarintType }

// inner is the message in the field, section the place of its bytes.
func (m *message) inner() message   { return message{r: m.r, at: m.start, end: m.at, left: m.left} }
func (m *message) section() section { return section{m.start, m.at - m.start} }

// text reads a short field of bytes.
func (m *message) text() (string, error) {
	const longest = 1024
	if m.at-m.start > longest {
		return "", faultf("byte %d: a name of %d bytes", m.start, m.at-m.start)
	}
	b := make([]byte, m.at-m.start)
	if _, err := io.ReadFull(io.NewSectionReader(m.r, m.start, m.at-m.start), b); err != nil {
		return "", cut(err)
	}
	return string(b), nil
}

// varints lists the numbers of a repeated field, packed or one by one, up to the maximum dimensions of a
// shape.
func (m *message) varints(field int32) (list []int64) {
	const most = 32
	for m.next() && len(list) <= most {
		switch {
		case m.field == field && m.isVarint():
			list = append(list, int64(m.value))
		case m.field == field && m.isBytes():
			packed := m.inner()
			for packed.at < packed.end && len(list) <= most {
				v, ok := packed.varint()
				if !ok {
					m.err = faultf("byte %d: a number that has no end", packed.at)
					return nil
				}
				list = append(list, int64(v))
			}
		}
	}
	if len(list) > most {
		m.err = faultf("byte %d: a shape of more than %d dimensions", m.at, most)
	}
	return list
}
