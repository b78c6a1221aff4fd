package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFloat32s_TypesAndOrders(t *testing.T) {
	for descr, data := range map[string]any{
		"<f4": []float32{-1, 0, 2.5}, ">f4": []float32{-1, 0, 2.5}, "<f8": []float64{-1, 0, 2.5},
		">f8": []float64{-1, 0, 2.5},
		"<f2": []uint16{0xbc00, 0, 0x4100}, ">f2": []uint16{0xbc00, 0, 0x4100},
	} {
		order := binary.ByteOrder(binary.LittleEndian)
		if descr[0] == '>' {
			order = binary.BigEndian
		}
		file := encoded(t, order, "{'descr': '"+descr+"', 'fortran_order': False, 'shape': (1, 3), }", data)
		h, start, err := ReadHeader(bytes.NewReader(file))
		if err != nil {
			t.Errorf("%s: %v", descr, err)
			continue
		}
		got := make([]float32, 3)
		h.Float32s(got, file[start:])
		if !slices.Equal(got, []float32{-1, 0, 2.5}) {
			t.Errorf("%s: %v", descr, got)
		}
	}
}

// encoded makes a file of version 2, which has a longer length field.
func encoded(t *testing.T, order binary.ByteOrder, header string, data any) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(Magic + "\x02\x00")
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(header))))
	b.WriteString(header)
	if err := binary.Write(&b, order, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWriter_RowsThatNobodyCountedBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(f, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]float32{{1, 2}, {float32(math.Inf(-1)), 4}, {5, 6}} {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Write([]float32{1}); err == nil || !strings.Contains(err.Error(), "1 values, want 2") {
		t.Errorf("a row of another width: %v", err)
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h, start, err := ReadHeader(bytes.NewReader(file))
	if err != nil || !slices.Equal(h.Shape, []int{3, 2}) || h.Descr != "<f4" || h.Fortran || start%64 != 0 {
		t.Fatalf("%+v, data from byte %d, %v", h, start, err)
	}
	got := make([]float32, 6)
	h.Float32s(got, file[start:])
	if !slices.Equal(got, []float32{1, 2, float32(math.Inf(-1)), 4, 5, 6}) {
		t.Errorf("%v", got)
	}
}

func TestFloat32Header_OfAnyShape(t *testing.T) {
	const large = math.MaxInt >> 22
	for _, shape := range [][]int{nil, {7}, {2, 3}, {large, large, large, large}} {
		b := Float32Header(shape...)
		h, start, err := ReadHeader(bytes.NewReader(b))
		if err != nil || !slices.Equal(h.Shape, shape) || h.Descr != "<f4" || h.Fortran || start != int64(len(b)) ||
			start%64 != 0 {
			t.Errorf("%v: %+v, data from byte %d of %d, %v", shape, h, start, len(b), err)
		}
	}
}

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
