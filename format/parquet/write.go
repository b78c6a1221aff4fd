package parquet

import (
	"io"
	"iter"

	"github.com/parquet-go/parquet-go"
)

// group is how many rows of a Parquet file lie together, and in memory until they are written.
const group = 1 << 17

// write writes a table whose columns are the fields of rows like this one, by their parquet tags. The first error among
// the rows ends it.
func write(out io.Writer, like any, rows iter.Seq2[any, error]) error {
	w := parquet.NewGenericWriter[any](out, parquet.SchemaOf(like), parquet.Compression(&parquet.Snappy),
		parquet.MaxRowsPerRowGroup(group))
	some := make([]any, 0, 1024)
	for row, err := range rows {
		if err != nil {
			return err
		}
		if some = append(some, row); len(some) == cap(some) {
			if _, err := w.Write(some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	if _, err := w.Write(some); err != nil {
		return err
	}
	return w.Close()
}
