package features

import (
	"archive/zip"
	"fmt"
	"runtime"
	"testing"
)

func TestMemoryRows_ReadsWhatWasAdded(t *testing.T) {
	for _, width := range []int{1, 3, blockBytes / 8, blockBytes} { // many rows in a block, two, and one
		m, row := newMemoryRows(width), make([]float32, width)
		for i := range 2*m.perBlock + 1 {
			row[0], row[width-1] = float32(i), float32(i)
			check(t, m.add(row))
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
