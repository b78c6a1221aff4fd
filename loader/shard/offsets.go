package shard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"nmn/internal/durable"
)

// offsetsMagic begins index.offsets; the size of the index follows, as 8 bytes, then 8 bytes for each record:
// where its line begins. All are little-endian.
const (
	offsetsMagic = "NMNOFFS1"
	offsetsHead  = 16
)

// offsets gives the start of each record's line in the index.
type offsets interface {
	count() int
	// span is the first byte of the line of record i and the one after its end.
	span(i int) (start, end int64, err error)
	Close() error
}

// heldOffsets are held in memory: 8 bytes a clip, with one more for the end.
type heldOffsets []int64

func (o heldOffsets) count() int                       { return len(o) - 1 }
func (o heldOffsets) span(i int) (a, b int64, _ error) { return o[i], o[i+1], nil }
func (o heldOffsets) Close() error                     { return nil }

// readOffsets finds the offsets by reading the index.
func readOffsets(s *indexScanner) (heldOffsets, error) {
	o := heldOffsets{s.next}
	for _, err := range s.records() {
		if err != nil {
			return nil, err
		}
		o = append(o, s.next)
	}
	return o, nil
}

// fileOffsets are read from index.offsets when they are asked for.
type fileOffsets struct {
	*os.File
	n    int
	size int64 // size of the index
}

// openOffsets returns nil if there is no file of offsets that fits the size of the index.
func openOffsets(dir string, size int64) *fileOffsets {
	file, err := os.Open(filepath.Join(dir, offsetsName))
	if err != nil {
		return nil
	}
	o := &fileOffsets{File: file, size: size}
	info, err := file.Stat()
	var head [offsetsHead]byte
	if err == nil {
		_, err = file.ReadAt(head[:], 0)
	}
	if err != nil || !bytes.Equal(head[:], offsetsHeader(size)) || info.Size()%8 != 0 {
		file.Close()
		return nil
	}
	o.n = int((info.Size() - offsetsHead) / 8)
	return o
}

func offsetsHeader(size int64) []byte {
	return binary.LittleEndian.AppendUint64([]byte(offsetsMagic), uint64(size))
}

func (o *fileOffsets) count() int { return o.n }

func (o *fileOffsets) span(i int) (start, end int64, err error) {
	var b [16]byte
	part := b[:16]
	if i == o.n-1 {
		part = b[:8]
	}
	if _, err := o.ReadAt(part, offsetsHead+8*int64(i)); err != nil {
		return 0, 0, fmt.Errorf("shard: %s, entry %d: %w", o.Name(), i, err)
	}
	start, end = int64(binary.LittleEndian.Uint64(b[:])), o.size
	if i < o.n-1 {
		end = int64(binary.LittleEndian.Uint64(b[8:]))
	}
	if start < 1 || end <= start || end > o.size || end-start > maxLine+1 {
		return 0, 0, fmt.Errorf(
			"shard: %s, entry %d (byte %d): the line should be at bytes %d to %d of %d: %w; %s",
			o.Name(), i, offsetsHead+8*i, start, end, o.size, ErrFormat, cure)
	}
	return start, end, nil
}

// writeOffsets makes index.offsets from the index, in memory of one line.
func writeOffsets(dir string) error {
	s, index, err := scanIndex(dir)
	if err != nil {
		return err
	}
	defer index.Close()
	info, err := index.Stat()
	if err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	err = durable.Stream(filepath.Join(dir, offsetsName), 0o644, func(w io.Writer) error {
		_, err := w.Write(offsetsHeader(info.Size()))
		for err == nil {
			if err = s.line(); err == nil {
				_, err = w.Write(binary.LittleEndian.AppendUint64(nil, uint64(s.start)))
			}
		}
		if err == io.EOF {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("shard: %w", err)
	}
	return nil
}
