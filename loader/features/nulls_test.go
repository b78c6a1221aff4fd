package features

import (
	"slices"
	"testing"
)

// A missing number keeps its place in its vector. Without it, every later number would belong to another
// feature.
func TestParquet_ANullInAVectorIsRefused(t *testing.T) {
	type row struct {
		Vector []*float32 `parquet:"embedding,list"`
		Labels []*string  `parquet:"labels,list"`
	}
	one, two, three, cat, dog := float32(1), float32(2), float32(3), "cat", "dog"
	whole := row{[]*float32{&one, &two, &three}, []*string{&cat}}
	for name, rows := range map[string][]row{
		"in every row": {{[]*float32{&one, nil, &three}, nil}, {[]*float32{&two, nil, &one}, nil}},
		"in one row":   {whole, {[]*float32{&one, nil, &three}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, Options{Features: parquetFile(t, rows)}, ErrValue, "embedding", "number 2 is NaN")
		})
	}
	// A label that is not there is none.
	whole.Labels = []*string{&cat, nil, &dog}
	table := mustOpen(t, Options{Features: parquetFile(t, []row{whole})})
	if !slices.Equal(all(t, table.Rows), []float32{1, 2, 3}) || !slices.Equal(table.Labels.Words, []string{"cat", "dog"}) {
		t.Errorf("%v with labels %+v", all(t, table.Rows), table.Labels)
	}
}
