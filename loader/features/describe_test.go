package features

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDescribe_LabelsOnNoRowAndOnAll(t *testing.T) {
	text := []byte("id,a,b,l1,l2,l3,w\nu,1,2,0,1,1,.5\nv,3,4,0,1,0,.25\n")
	table, err := Open(t.Context(), Options{Features: file(t, "x.csv", text), LabelColumns: []string{"l*"},
		WeightColumn: "w"})
	check(t, err)
	defer table.Close()
	d, err := table.Describe()
	check(t, err)
	if d.Rows != 2 || d.Features != 2 || d.PerRow != 1.5 || d.FirstID != "u" || !slices.Equal(d.Never, []string{"l1"}) ||
		!slices.Equal(d.Always, []string{"l2"}) || !slices.Equal(d.Weights, []float32{.25, .5}) {
		t.Errorf("described as %+v", d)
	}
}

func TestDescribe_CountsRowsOnDiskThatAreNoFeatures(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.npy")
	table, err := Open(t.Context(), Options{Features: file(t, "x.csv", []byte("a,b\n1,2\n3,4\n5,6\n"))})
	check(t, err)
	defer table.Close()
	check(t, WriteFile(name, table.Rows))
	onDisk, err := Open(t.Context(), Options{Features: name})
	check(t, err)
	defer onDisk.Close()
	d, err := onDisk.Describe()
	if err != nil || !d.OnDisk || d.Rows != 3 || d.Features != 2 || d.Unusable != 0 {
		t.Errorf("described as %+v, %v", d, err)
	}
	if err := WriteFile(filepath.Join(t.TempDir(), "x.csv"), table.Rows); err == nil || !strings.Contains(err.Error(),
		".safetensors") {
		t.Errorf("features as CSV: %v", err)
	}
}
