package dataset

import (
	"path/filepath"
	"slices"
	"testing"

	"nmn/loader"
)

// A class of held-out pictures alone leaves the classes exclusive, and its pictures without a label to judge by.
func TestOpen_ForgetsClassesThatNoTrainingPictureHas(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1.jpg", "2.jpg", "3.jpg", "4.jpg"} {
		writeFile(t, filepath.Join(dir, name), "")
	}
	c := DefaultConfig()
	c.Set, c.Manifest, c.ValidationShare, c.TestShare = Manifest, filepath.Join(dir, "list.csv"), 0, 0
	const two = "1.jpg,cat,train\n2.jpg,dog,train\n3.jpg,emu,test\n4.jpg,dog,test\n"
	for _, test := range []struct {
		classes   Classes
		rows      string
		want      []uint8
		exclusive bool
	}{
		{AutoClasses, two, []uint8{loader.UnknownLabel, loader.UnknownLabel, 0, 1}, true},
		{Multi, two, []uint8{0, 0, 0, 1}, false},
		{AutoClasses, "1.jpg,cat,train\n2.jpg,dog,train\n3.jpg,,train\n4.jpg,emu,test\n", []uint8{0, 0}, false},
	} {
		writeFile(t, c.Manifest, "path,label,split\n"+test.rows)
		c.Classes = test.classes
		d := openedData(t, &c)
		if got := d.Test.Labels.Uint8s(); !slices.Equal(got, test.want) || (d.NotExclusive() == "") != test.exclusive {
			t.Errorf("%s, %q: labels %v, want %v; %q", test.classes, test.rows, got, test.want, d.NotExclusive())
		}
	}
}
