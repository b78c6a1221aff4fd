package dataset

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/table"
	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/loader"
)

// evidenceOf writes evidence for some bags, with names or without: bag i and column c have the value 10·i + c.
func evidenceOf(t *testing.T, named bool, words string, ids ...string) string {
	t.Helper()
	text := words + "\n"
	if named {
		text = "id," + text
	}
	for i, id := range ids {
		if named {
			text += id + ","
		}
		for c := range strings.Count(words, ",") + 1 {
			text += fmt.Sprintf("%d,", 10*i+c)
		}
		text = text[:len(text)-1] + "\n"
	}
	return fileOf(t, t.TempDir(), "evidence.csv", text)
}

// ids returns the identifiers of all rows of a file of features, in order.
func idsOf(train, validation, test int) (ids []string) {
	for _, part := range []struct {
		name string
		rows int
	}{{"train", train}, {"validation", validation}, {"test", test}} {
		for i := range part.rows {
			ids = append(ids, fmt.Sprintf("%s-%d", part.name, i))
		}
	}
	return ids
}

// Rows without names are the rows of the whole file, from which splits are taken; rows with names are found
// by them. Columns are found by their words.
func TestEvidence_IsOfTheTrainingBags(t *testing.T) {
	features, all := featureFile(t, 4, 3, 2), idsOf(4, 3, 2)
	reversed := slices.Clone(all[:4])
	slices.Reverse(reversed)
	want := []float32{0, 1, 10, 11, 20, 21, 30, 31}
	for name, c := range map[string]struct {
		file string
		want []float32
	}{
		"by order":          {evidenceOf(t, false, "cat,dog", all...), want},
		"by name":           {evidenceOf(t, true, "cat,dog", all[:4]...), want},
		"by name, reversed": {evidenceOf(t, true, "dog,cat", reversed...), []float32{31, 30, 21, 20, 11, 10, 1, 0}},
	} {
		d := openFeatureFile(t, features, func(c *Config) {})
		if d.Evidence != nil {
			t.Fatal("evidence of no file")
		}
		d = openFeatureFile(t, features, func(config *Config) { config.Evidence = c.file })
		if got := d.Evidence.Float32s(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if !strings.Contains(d.Describe(), "87.5 % for, 0.0 % against, of 12.5 % nothing is known") {
			t.Errorf("%s: described as %s", name, d.Describe())
		}
		files, err := d.Files(t.Context(), false)
		expect.OK(t, err)
		found := false
		for _, f := range files {
			found = found || f.Name == "data.evidence" && f.Digest != ""
		}
		if !found {
			t.Errorf("%s: it is not among the files of the data: %+v", name, files)
		}
	}
}

// If shares are held out, each training bag keeps its row.
func TestEvidence_FollowsHeldOutShares(t *testing.T) {
	for _, open := range map[string]func(c *Config) (all []string){
		"manifest": func(c *Config) []string { return []string{"0.png", "1.png", "2.png", "3.png"} },
		"features": func(c *Config) []string {
			c.Set, c.Features.Train.Features = Features, featureFile(t, 20, 0, 0)
			c.Features.LabelColumns, c.Features.Ignore = []string{"cat", "dog"}, []string{"split"}
			return idsOf(20, 0, 0)
		},
	} {
		c := pictureList(t, t.TempDir())
		all := open(c)
		words := "cat"
		if c.Set == Features {
			words, c.Manifest, c.Images = "cat,dog", "", ""
		}
		c.Evidence = evidenceOf(t, false, words, all...)
		d := openedData(t, c)
		k := strings.Count(words, ",") + 1
		if d.Train.Len() == len(all) {
			t.Error("nothing was held out")
		}
		for i, id := range d.Train.IDs {
			row := slices.Index(all, id)
			if got := d.Evidence.Float32s()[i*k]; got != float32(10*row) {
				t.Errorf("evidence of %s is %g, want that of row %d", id, got, row)
			}
		}
	}
}

// A frame that is learned by itself has the evidence of its clip.
func TestEvidence_OfFramesIsThatOfTheirClip(t *testing.T) {
	c := DefaultConfig()
	c.Set, c.TrainSize, c.ValidationSize, c.TestSize, c.Frames = MovingScenes, 3, 0, 1, 3
	plain := openedData(t, &c)
	words := plain.Train.Vocabulary.Texts()
	c.Evidence = evidenceOf(t, false, strings.Join(words, ","), plain.Train.IDs...)
	d := openedData(t, &c)
	frames, err := d.ByFrame(t.Context(), true)
	expect.OK(t, err)
	k := len(words)
	for frame := range frames.Train.Len() {
		got, want := frames.Evidence.Float32s()[frame*k:][:k], d.Evidence.Float32s()[frame/3*k:][:k]
		if !slices.Equal(got, want) {
			t.Errorf("frame %d has %v, want %v", frame, got, want)
		}
	}
	if frames.Evidence.Shape()[0] != 9 || d.Evidence.Shape()[0] != 3 {
		t.Errorf("evidence of %d frames and %d clips", frames.Evidence.Shape()[0], d.Evidence.Shape()[0])
	}
}

func TestEvidence_RefusesOtherData(t *testing.T) {
	features := featureFile(t, 4, 3, 2)
	for says, file := range map[string]string{
		"has 4 rows, and the data have 9 samples": evidenceOf(t, false, "cat,dog", idsOf(4, 0, 0)...),
		`no id "train-3"`:                         evidenceOf(t, true, "cat,dog", idsOf(3, 3, 2)...),
		"has 3 columns for the 2 classes":         evidenceOf(t, true, "cat,dog,cow", idsOf(4, 3, 2)...),
		"no such file":                            filepath.Join(t.TempDir(), "none.npy"),
		"file type":                               features + ".txt",
	} {
		if strings.HasSuffix(file, ".txt") {
			writeFile(t, file, "")
		}
		c := DefaultConfig()
		c.Set, c.Evidence = Features, file
		c.Features.Train.Features, c.Features.LabelColumns = features, []string{"cat", "dog"}
		_, err := Open(t.Context(), &c, Options{})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%v, want %q", err, says)
		}
		if strings.Contains(says, "rows") && !errors.Is(err, table.ErrShape) {
			t.Errorf("%v is not about shapes", err)
		}
	}
	d := &Splits{Train: &loader.Set{Rows: noRows{}}}
	var mistake *setting.Error
	if err := d.readEvidence(&Config{Evidence: "e.npy"}); !errors.As(err, &mistake) || mistake.Key != "data.evidence" {
		t.Errorf("labels that are not in memory: %v", err)
	}
}

// noRows stands for labels that are not in memory.
type noRows struct{ loader.Rows }

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
	expect.OK(t, err)
	found := false
	for _, f := range files {
		found = found || f.Name == "data.verified" && f.Digest != ""
	}
	if !found {
		t.Errorf("it is not among the files of the data: %+v", files)
	}
}
