package features

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nmn/format/npy"
	"nmn/format/safetensors"
	"nmn/internal/expect"
)

// npyFile writes an array in C order as NumPy does.
func npyFile(descr, shape string, data any) []byte {
	return npyWithHeader(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape),
		descr[0] == '>', data)
}

func npyWithHeader(header string, big bool, data any) []byte {
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := bytes.NewBufferString(npy.Magic + "\x01\x00")
	b.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(header))))
	b.WriteString(header)
	order := binary.ByteOrder(binary.LittleEndian)
	if big {
		order = binary.BigEndian
	}
	if err := binary.Write(b, order, data); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestOpenNPY_TypesAndShapes(t *testing.T) {
	want := []float32{0, 1, 2, 3, 4, 5}
	for name, content := range map[string][]byte{
		"float32":     npyFile("<f4", "(2, 3)", want),
		"big-endian":  npyFile(">f4", "(2, 3)", want),
		"float64":     npyFile("<f8", "(2, 3)", []float64{0, 1, 2, 3, 4, 5}),
		"float16":     npyFile(">f2", "(2, 3)", []uint16{0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500}),
		"integers":    npyFile("<i2", "(2, 3)", []int16{0, 1, 2, 3, 4, 5}),
		"a map":       npyFile("<f4", "(2, 1, 1, 3)", want),
		"one column":  npyWithHeader("{'descr': '<f4', 'fortran_order': True, 'shape': (6, 1), }", false, want),
		"one, 3-D":    npyFile("|u1", "(6, 1, 1)", []uint8{0, 1, 2, 3, 4, 5}),
		"scalar rows": npyFile("<u8", "(6, 1)", []uint64{0, 1, 2, 3, 4, 5}),
	} {
		table := mustOpen(t, Options{Features: file(t, "x.npy", content)})
		if got := all(t, table.Rows); !slices.Equal(got, want) || !table.OnDisk {
			t.Errorf("%s: %v, on disk %t", name, got, table.OnDisk)
		}
	}
}

func TestOpenNPY_RefusesHostileFiles(t *testing.T) {
	good := npyFile("<f4", "(2, 2)", []float32{1, 2, 3, 4})
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for name, c := range map[string]struct {
		content []byte
		kind    error
		says    string
	}{
		"empty":    {nil, ErrFormat, "does not begin"},
		"cut":      {good[:len(good)-1], ErrFormat, "15 bytes of data, want 16"},
		"appended": {append(slices.Clone(good), 0), ErrFormat, "17 bytes of data"},
		"Fortran order": {npyWithHeader("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }",
			false, []float32{1, 2, 3, 4}), ErrFormat, "ascontiguousarray"},
		"overflow": {npyFile("<f8", fmt.Sprintf("(%d, 4)", math.MaxInt/2+1), []float64{1}), ErrFormat, "too large"},
		"overflow 2": {npyFile("<f8", fmt.Sprintf("(%d, 8192, 16384)", 1<<(strconv.IntSize-13)), []float64{1}), ErrFormat,
			"too large"},
		"claims 0.8 GB": {npyFile("<f8", "(10000, 10000)", []float64{1}), ErrFormat, "8 bytes of data, want 800000000"},
		"no rows":       {npyFile("<f4", "(0, 2)", []float32{}), ErrFormat, "empty"},
		"a vector":      {npyFile("<f4", "(4,)", []float32{1, 2, 3, 4}), ErrFormat, "want rows × numbers"},
		"objects":       {npyFile("|O", "(2, 2)", []float32{1}), ErrFormat, "type"},
		"NaN":           {npyFile("<f4", "(2, 2)", []float32{1, 2, nan, 4}), ErrValue, "row 2, column 1 is NaN"},
		"infinite":      {npyFile("<f4", "(2, 2)", []float32{1, inf, 3, 4}), ErrValue, "row 1, column 2 is -Inf"},
		"float64 large": {npyFile("<f8", "(1, 2)", []float64{1, 1e300}), ErrValue, "row 1, column 2"},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, Options{Features: file(t, "x.npy", c.content)}, c.kind, c.says)
		})
	}
}

func TestOpenNPY_MissingValuesWhereAllowed(t *testing.T) {
	x := file(t, "x.npy", npyFile("<f4", "(2, 1)", []float32{float32(math.NaN()), 2}))
	got := all(t, mustOpen(t, Options{Features: x, Missing: true}).Rows)
	if got[0] == got[0] || got[1] != 2 {
		t.Errorf("%v, want NaN and 2", got)
	}
	refused(t, Options{Features: x}, ErrValue, "row 1, column 1", "`data.features.missing_values` mean")
}

// A row is read the same by many goroutines at once.
func TestFileRows_Concurrent(t *testing.T) {
	values := make([]float32, 300*7)
	for i := range values {
		values[i] = float32(i)
	}
	rows := mustOpen(t, Options{Features: file(t, "x.npy", npyFile(">f4", "(300, 7)", values))}).Rows
	var group sync.WaitGroup
	for from := range 4 {
		group.Go(func() {
			row := make([]float32, 7)
			for i := from; i < 300; i++ {
				if err := rows.Read(i, row); err != nil || !slices.Equal(row, values[i*7:(i+1)*7]) {
					t.Errorf("row %d: %v, %v", i, row, err)
				}
			}
		})
	}
	group.Wait()
	if err := rows.Read(300, make([]float32, 7)); err == nil {
		t.Error("a row beyond the last is read")
	}
}

// npz packs arrays.
func npz(t testing.TB, method uint16, arrays map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range arrays {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err == nil {
			_, err = w.Write(content)
		}
		expect.OK(t, err)
	}
	expect.OK(t, z.Close())
	return b.Bytes()
}

func TestOpenNPZ_StoredAndCompressed(t *testing.T) {
	arrays := map[string][]byte{
		"x": npyFile("<f4", "(2, 3)", []float32{0, 1, 2, 3, 4, 5}),
		"y": npyFile("|b1", "(2, 2)", []bool{true, false, false, true}),
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		path := file(t, "x.npz", npz(t, method, arrays))
		table := mustOpen(t, Options{Features: path, Array: "x", LabelArray: "y"})
		if got := all(t, table.Rows); !slices.Equal(got, []float32{0, 1, 2, 3, 4, 5}) ||
			!slices.Equal(table.Labels.Values, []uint8{1, 0, 0, 1}) {
			t.Errorf("method %d: %v %v", method, got, table.Labels)
		}
		if table.OnDisk != (method == zip.Store) {
			t.Errorf("method %d: on disk %t", method, table.OnDisk)
		}
		refused(t, Options{Features: path}, ErrFormat, `"x"`, `"y"`, "`data.features.array`")
		refused(t, Options{Features: path, Array: "z"}, ErrFormat, `no array "z"`)
	}
}

func TestOpenNPZ_RefusesHostileFiles(t *testing.T) {
	zeros := make([]float32, 1<<20)
	bomb := npz(t, zip.Deflate, map[string][]byte{"x": npyFile("<f4", "(1024, 1024)", zeros)})
	refused(t, Options{Features: file(t, "bomb.npz", bomb), Limit: 1 << 20}, ErrFormat,
		"4194304 bytes of memory, the limit is 1048576", "numpy.savez")
	// The header claims more than the archive has.
	refused(t,
		Options{Features: file(t, "claims.npz",
			npz(t, zip.Deflate, map[string][]byte{"x": npyFile("<f4", "(1024, 1024)", zeros[:10])}))},
		ErrFormat, `array "x"`, "40 bytes of data, want 4194304")
	good := npz(t, zip.Store, map[string][]byte{"x": npyFile("<f4", "(2, 2)", []float32{1, 2, 3, 4})})
	refused(t, Options{Features: file(t, "cut.npz", good[:len(good)-40])}, ErrFormat, "zip")
	refused(t, Options{Features: file(t, "none.npz", npz(t, zip.Store, nil))}, ErrFormat, "no array")
	damaged := npz(t, zip.Deflate, map[string][]byte{"x": npyFile("<f4", "(1, 2)", []float32{1, float32(math.NaN())})})
	refused(t, Options{Features: file(t, "nan.npz", damaged)}, ErrValue, "row 1, column 2 is NaN")
	// The archive gives a smaller size than its data have: the checksum or the length does not fit.
	lying := npz(t, zip.Deflate, map[string][]byte{"x": npyFile("<f4", "(64, 64)", zeros[:4096])})
	at := bytes.LastIndex(lying, []byte("PK\x01\x02")) + 16
	lying[at] ^= 0xff // the checksum in the directory
	refused(t, Options{Features: file(t, "lying.npz", lying)}, ErrFormat, "checksum")
}

func TestOpenTensor_TypesAndNames(t *testing.T) {
	var b bytes.Buffer
	err := safetensors.Write(&b, nil, []safetensors.Tensor{
		{Name: "x", DType: safetensors.BF16, Shape: []int{2, 2}, Data: []uint16{0x3f80, 0x4000, 0x4040, 0x4080}},
		{Name: "y", DType: safetensors.Bool, Shape: []int{2, 1}, Data: []uint8{1, 0}},
		{Name: "f8", DType: safetensors.F8E4M3, Shape: []int{2, 1}, Data: func(w io.Writer) error {
			_, err := w.Write([]byte{1, 2})
			return err
		}},
	})
	expect.OK(t, err)
	path := file(t, "x.safetensors", b.Bytes())
	table := mustOpen(t, Options{Features: path, Array: "x", LabelArray: "y"})
	if got := all(t, table.Rows); !slices.Equal(got, []float32{1, 2, 3, 4}) ||
		!slices.Equal(table.Labels.Values, []uint8{1, 0}) || !table.OnDisk {
		t.Errorf("%v %v", got, table.Labels)
	}
	refused(t, Options{Features: path}, ErrFormat, `"x"`, "`data.features.array`")
	refused(t, Options{Features: path, Array: "f8"}, ErrFormat, "F8_E4M3")
	refused(t, Options{Features: file(t, "cut.safetensors", b.Bytes()[:b.Len()-1])}, ErrFormat, "cut.safetensors")
}

// readerCloser is bytes as an open file.
type readerCloser struct{ *bytes.Reader }

func (readerCloser) Close() error { return nil }

// checkRows reads all rows of a fuzzed matrix: each is whole, or its error names a value.
func checkRows(t *testing.T, rows Rows) {
	row := make([]float32, rows.Width())
	for i := range rows.Len() {
		if err := rows.Read(i, row); err != nil {
			if !errors.Is(err, ErrValue) {
				t.Errorf("row %d of %d: %v", i, rows.Len(), err)
			}
			continue
		}
		for _, v := range row {
			if unusable(v, false) {
				t.Errorf("row %d holds %v", i, v)
			}
		}
	}
}

func FuzzNPY(f *testing.F) {
	f.Add(npyFile("<f4", "(2, 3)", []float32{0, 1, 2, 3, 4, 5}))
	f.Add(npyFile(">f2", "(2, 1, 2)", []uint16{0, 0x7e00, 1, 2}))
	f.Add(npyFile("<f8", "(99999999, 99999999)", []float64{1}))
	f.Add([]byte(npy.Magic + "\x02\x00\xff\xff\xff\xff{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := npyArray(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			ofAKind(t, err)
			return
		}
		checkRows(t, newFileRows("fuzz", a, false, io.NopCloser(nil)))
	})
}

func FuzzNPZ(f *testing.F) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		f.Add(npz(f, method, map[string][]byte{"x": npyFile("<f4", "(2, 2)", []float32{1, 2, 3, 4})}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, err := npzRows(t.Context(), readerCloser{bytes.NewReader(b)}, int64(len(b)), "fuzz", "",
			&Options{Limit: 1 << 20})
		if err != nil {
			ofAKind(t, err)
			return
		}
		checkRows(t, rows)
	})
}

// Files that are large on disk are read in memory of a few rows.
func TestFileRows_TakesMemoryOfRows(t *testing.T) {
	path := file(t, "x.npy", npyFile("<f4", "(1, 1)", []float32{1}))
	const rows, width = 1 << 16, 1 << 10 // 256 MiB, a hole in the file
	head := npyWithHeader(fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, width),
		false, []float32{})
	expect.OK(t, os.WriteFile(path, head, 0o666))
	if err := os.Truncate(path, int64(len(head))+4*rows*width); err != nil {
		t.Skip("the file system has no holes:", err)
	}
	table := mustOpen(t, Options{Features: path})
	row := make([]float32, width)
	read := func() {
		for i := 0; i < rows; i += 97 {
			expect.OK(t, table.Rows.Read(i, row))
		}
	}
	read()
	// Under the race detector a pool forgets some of what it is given, at random.
	if allocations, most := testing.AllocsPerRun(1, read), float64(rows/97)*3/4; allocations > most {
		t.Errorf("%v allocations for %d rows: buffers are not used again", allocations, rows/97)
	}
}

func TestMemoryRows_ReadsWhatWasAdded(t *testing.T) {
	for _, width := range []int{1, 3, blockBytes / 8, blockBytes} { // many rows in a block, two, and one
		m, row := newMemoryRows(width), make([]float32, width)
		for i := range 2*m.perBlock + 1 {
			row[0], row[width-1] = float32(i), float32(i)
			expect.OK(t, m.add(row))
		}
		if m.Len() != 2*m.perBlock+1 || len(m.blocks) != 3 || m.bytes() != 4*int64(width)*int64(m.Len()) {
			t.Fatalf("width %d: %d rows in %d blocks, %d bytes", width, m.Len(), len(m.blocks), m.bytes())
		}
		for i := range m.Len() {
			if err := m.Read(i, row); err != nil || row[0] != float32(i) || row[width-1] != float32(i) {
				t.Fatalf("width %d, row %d: %v, %v", width, i, row[0], err)
			}
		}
		if m.Read(-1, row) == nil || m.Read(m.Len(), row) == nil {
			t.Errorf("width %d: rows that are not there are read", width)
		}
	}
}

// A small archive may hold many rows: they must take the memory that the limit counts, and not several times as much
// while it is read.
func TestOpen_CompressedRowsAreInMemoryOnce(t *testing.T) {
	const rows, width = 16 << 10, 256 // 16 MiB
	matrix := npyFile("<f4", fmt.Sprintf("(%d, %d)", rows, width), make([]float32, rows*width))
	path := file(t, "x.npz", npz(t, zip.Deflate, map[string][]byte{"x": matrix}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	table, err := Open(t.Context(), Options{Features: path})
	runtime.ReadMemStats(&after)
	if err != nil || table.Rows.Len() != rows || table.Rows.Width() != width {
		t.Fatal(err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 18<<20 {
		t.Errorf("%d bytes are taken for %d", taken, 4*rows*width)
	}
}
