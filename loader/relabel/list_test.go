package relabel

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestNewManifest_HasTheColumnsThatRowsNeed(t *testing.T) {
	for _, test := range []struct {
		name, want string
		rows       []Row
	}{
		{"ids that are paths", "path,labels,split\na.jpg,cat;dog,train\nb.jpg,,test\n", []Row{
			{ID: "a.jpg", Files: []string{"a.jpg"}, Labels: []string{"cat", "dog"}, Split: "train"},
			{ID: "b.jpg", Files: []string{"b.jpg"}, Split: "test"}}},
		{"own ids", "path,labels,split,id\na.jpg,cat,train,7\nb.jpg,dog,train,b.jpg\n", []Row{
			{ID: "7", Files: []string{"a.jpg"}, Labels: []string{"cat"}, Split: "train"},
			{ID: "b.jpg", Files: []string{"b.jpg"}, Labels: []string{"dog"}, Split: "train"}}},
		{"clips", "frames,labels,split,id\n1.jpg;2.jpg,cat,validation,clip\n", []Row{
			{ID: "clip", Files: []string{"1.jpg", "2.jpg"}, Labels: []string{"cat"}, Split: "validation"}}},
	} {
		path := filepath.Join(t.TempDir(), "new.csv")
		check(t, NewManifest(test.rows, path))
		if got, err := os.ReadFile(path); err != nil || string(got) != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// A name with a separator in it would be read as two.
func TestNewManifest_RefusesNamesThatWouldBeParted(t *testing.T) {
	for _, row := range []Row{{Files: []string{"a;b.jpg"}}, {Files: []string{"a.jpg"}, Labels: []string{"cat|dog"}}} {
		path := filepath.Join(t.TempDir(), "new.csv")
		if err := NewManifest([]Row{row}, path); !errors.Is(err, ErrForm) {
			t.Errorf("%+v: %v", row, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%+v: a file was left", row)
		}
	}
}
