package train

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"nmn/group"
	"nmn/loader"
)

// message is what a rank tells the others of a batch that it has scored.
type message struct {
	status  []byte // of group.Status
	round   int
	batches int                // of the pass, as this rank counts them
	bad     []loader.BadSample // left out since the last message

	bags    []int // of the batch, in its order; none where there is no batch
	ids     []string
	lengths []int  // of the results
	results []byte // the results, float32, one behind the other
}

// append writes a message with the results of its batch, for group.GatherLong.
func (m *message) append(dst []byte, results [][]float32) []byte {
	dst = append(dst, make([]byte, group.LongPrefix)...)
	dst = appendText(dst, string(m.status))
	dst = binary.AppendUvarint(dst, uint64(m.round))
	dst = binary.AppendUvarint(dst, uint64(m.batches))
	dst = binary.AppendUvarint(dst, uint64(len(m.bad)))
	for _, b := range m.bad {
		dst = binary.AppendUvarint(dst, uint64(b.Bag))
		dst = appendText(dst, b.ID)
		dst = appendText(dst, b.Err.Error())
	}
	dst = binary.AppendUvarint(dst, uint64(len(m.bags)))
	for i, bag := range m.bags {
		dst = binary.AppendUvarint(dst, uint64(bag))
		dst = appendText(dst, m.ids[i])
	}
	dst = binary.AppendUvarint(dst, uint64(len(results)))
	total := 0
	for _, values := range results {
		dst = binary.AppendUvarint(dst, uint64(len(values)))
		total += 4 * len(values)
	}
	at := len(dst)
	dst = slices.Grow(dst, total)[:at+total]
	for _, values := range results {
		to := dst[at : at+4*len(values)]
		for i, v := range values {
			binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(v))
		}
		at += len(to)
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// errMessage is the error of a message that no rank writes.
var errMessage = errors.New("it is damaged")

// read reads what append has written, behind its prefix. The results stay in data, and all memory of the message is
// used again.
func (m *message) read(data []byte) error {
	r := reader{data: data}
	m.status = r.bytes()
	m.round, m.batches = r.number(), r.number()
	m.bad, m.bags, m.ids, m.lengths = m.bad[:0], m.bags[:0], m.ids[:0], m.lengths[:0]
	for range r.count() {
		m.bad = append(m.bad, loader.BadSample{Bag: r.number(), ID: string(r.bytes()), Err: badThere(r.bytes())})
	}
	for range r.count() {
		m.bags, m.ids = append(m.bags, r.number()), append(m.ids, string(r.bytes()))
	}
	values := 0
	for range r.count() {
		m.lengths = append(m.lengths, r.number())
		values += m.lengths[len(m.lengths)-1]
	}
	if m.results = r.data; r.damaged || len(r.data) != 4*values {
		return errMessage
	}
	return nil
}

// reader takes a message apart. Behind its end there are zeros.
type reader struct {
	data    []byte
	damaged bool
}

func (r *reader) number() int {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > math.MaxInt32 {
		r.data, r.damaged = nil, true
		return 0
	}
	r.data = r.data[n:]
	return int(v)
}

// count is a number of things, each of at least a byte.
func (r *reader) count() int {
	n := r.number()
	if n > len(r.data) {
		r.data, r.damaged = nil, true
		return 0
	}
	return n
}

func (r *reader) bytes() []byte {
	n := r.count()
	text := r.data[:n]
	r.data = r.data[n:]
	return text
}

// shared is a batch of another rank, as far as it is told. Its memory is used again.
type shared struct {
	of    loader.Batch
	all   []float32
	lists [][]float32
}

func (s *shared) batch(number int, m *message) *loader.Batch {
	s.of = loader.Batch{Number: number, N: len(m.bags), Index: m.bags, IDs: m.ids}
	return &s.of
}

func (s *shared) values(m *message) [][]float32 {
	s.all, s.lists = slices.Grow(s.all[:0], len(m.results)/4)[:len(m.results)/4], s.lists[:0]
	for i := range s.all {
		s.all[i] = math.Float32frombits(binary.LittleEndian.Uint32(m.results[4*i:]))
	}
	at := 0
	for _, n := range m.lengths {
		s.lists = append(s.lists, s.all[at:at+n])
		at += n
	}
	return s.lists
}
