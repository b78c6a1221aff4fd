// Package tensorboard writes event files as TensorBoard reads them: scalars, precision-recall curves and
// pictures over the steps of a run.
package tensorboard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"nmn/internal/durable"
)

// Writer appends events to one file. Its methods are for one goroutine. Events that cannot be written wait until they
// can; Close returns the error of those that still cannot, so that training need not look at every event.
type Writer struct {
	file *durable.Journal // takes whole events
	now  func() time.Time
}

// Create starts a file in a folder, which is made. A run that goes on from a step passes it: TensorBoard
// then forgets what earlier files say about later steps. A new run passes -1.
func Create(dir string, step int) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("TensorBoard events: %w", err)
	}
	now := time.Now
	name := fmt.Sprintf("events.out.tfevents.%010d.nmn.%d", now().Unix(), os.Getpid())
	file, err := create(dir, name)
	if err != nil {
		return nil, fmt.Errorf("TensorBoard events: %w", err)
	}
	w := &Writer{file: file, now: now}
	w.event(0, fileVersion, []byte("brain.Event:2"))
	if step >= 0 {
		w.event(step+1, sessionLog, protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), sessionStart))
	}
	return w, nil
}

// create makes a file that is not there yet: a run may be resumed within a second.
func create(dir, name string) (*durable.Journal, error) {
	const most = 1000
	for n := range most {
		file, err := durable.OpenJournal(filepath.Join(dir, fmt.Sprintf("%s.%d", name, n)), os.O_EXCL, nil)
		if !errors.Is(err, os.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("%s has %d files of this second already", dir, most)
}

// Flush writes the events that could not be written before, if any, and returns why it cannot.
func (w *Writer) Flush() error {
	if err := w.file.Flush(); err != nil {
		return fmt.Errorf("TensorBoard events: %w", err)
	}
	return nil
}

// Close closes the file and returns the first error of writing.
func (w *Writer) Close() error {
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("TensorBoard events: %w", err)
	}
	return nil
}

// Fields of the message Event and values of SessionLog.
const (
	wallTime     = protowire.Number(1)
	eventStep    = protowire.Number(2)
	fileVersion  = protowire.Number(3)
	summary      = protowire.Number(5)
	sessionLog   = protowire.Number(7)
	sessionStart = 1
)

// event writes one event whose content is a message or text.
func (w *Writer) event(step int, field protowire.Number, content []byte) {
	b := appendDouble(nil, wallTime, float64(w.now().UnixMicro())/1e6)
	b = protowire.AppendTag(b, eventStep, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(step))
	_, _ = w.file.Write(record(appendMessage(b, field, content))) // Close returns errors
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record frames data as TensorFlow's records are: length, checksum of the length, data, checksum of them.
func record(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	b = append(b, data...)
	return binary.LittleEndian.AppendUint32(b, checksum(data))
}

// checksum is masked, because a record may hold checksums itself.
func checksum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

func appendMessage(b []byte, field protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), content)
}

func appendDouble(b []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(v))
}

func appendInt(b []byte, field protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}
