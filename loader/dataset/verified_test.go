package dataset

import (
	"slices"
	"strings"
	"testing"
)

// Verified bags are training bags, whose file is one of the data. Those that are held out are counted.
func TestVerified_AreTrainingBags(t *testing.T) {
	features := featureFile(t, 4, 3, 2)
	file := fileOf(t, t.TempDir(), "verified.csv", "path,labels\ntrain-2,dog\ntest-1,cat\ntrain-0,\n")
	if d := openFeatureFile(t, features, func(*Config) {}); d.Verified != nil {
		t.Fatal("verified bags of no file")
	}
	d := openFeatureFile(t, features, func(c *Config) { c.Verified = file })
	if v := d.Verified; !slices.Equal(v.Bags, []int{2, 0}) || !slices.Equal(v.Truth, []uint8{0, 1, 0, 0}) ||
		v.HeldOut != 1 {
		t.Errorf("%+v", v)
	}
	if says := d.Describe(); !strings.Contains(says, "whose labels were checked; 1 of validation or test are not used") {
		t.Error(says)
	}
	files, err := d.Files(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, f := range files {
		found = found || f.Name == "data.verified" && f.Digest != ""
	}
	if !found {
		t.Errorf("it is not among the files of the data: %+v", files)
	}
}
