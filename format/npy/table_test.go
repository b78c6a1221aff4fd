package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// A table is a structured array: a header with the fields, aligned by 64 bytes, and rows without gaps.
func TestWriteTable_IsAStructuredArray(t *testing.T) {
	fields := []Field{{"row", "<i4"}, {"given", "|u1"}, {"p", "<f8"}}
	const rows = 20000 // more than are collected before they are written
	var b bytes.Buffer
	err := WriteTable(&b, fields, rows, func(data []byte, i int) []byte {
		data = append(binary.LittleEndian.AppendUint32(data, uint32(i)), byte(i%2))
		return binary.LittleEndian.AppendUint64(data, uint64(i)<<40)
	})
	if err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	length := int(binary.LittleEndian.Uint16(data[8:]))
	header, rest := string(data[10:10+length]), data[10+length:]
	const want = "{'descr': [('row', '<i4'), ('given', '|u1'), ('p', '<f8'), ], 'fortran_order': False, 'shape': " +
		"(20000,), }"
	if string(data[:8]) != Magic+"\x01\x00" || strings.TrimRight(header, " \n") != want || (10+length)%64 != 0 ||
		!strings.HasSuffix(header, "\n") {
		t.Errorf("header of %d bytes: %q", length, header)
	}
	if len(rest) != rows*13 {
		t.Fatalf("%d bytes of %d rows", len(rest), rows)
	}
	for i := range rows {
		row := rest[i*13:]
		if binary.LittleEndian.Uint32(row) != uint32(i) || row[4] != byte(i%2) ||
			binary.LittleEndian.Uint64(row[5:]) != uint64(i)<<40 {
			t.Fatalf("row %d is % x", i, row[:13])
		}
	}
}

func TestWriteTable_RowsOfAnotherWidth(t *testing.T) {
	err := WriteTable(new(bytes.Buffer), []Field{{"p", "<f8"}}, 1, func(data []byte, _ int) []byte {
		return append(data, 1)
	})
	if err == nil || !strings.Contains(err.Error(), "row 1 has 1 bytes, want 8") {
		t.Error(err)
	}
}

type fullDisk struct{}

var errFull = errors.New("no room")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteTable_TellsWhereItCannotWrite(t *testing.T) {
	err := WriteTable(fullDisk{}, []Field{{"b", "|u1"}}, 0, nil)
	if !errors.Is(err, errFull) {
		t.Error(err)
	}
}
