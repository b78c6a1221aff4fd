package dataset

import (
	"slices"
	"strings"
	"testing"
)

// Names of labels that differ in spelling alone are noted, or joined in all splits.
func TestOpen_JoinsLabelsOfFeatures(t *testing.T) {
	dir := t.TempDir()
	c := DefaultConfig()
	c.Set, c.ValidationShare, c.TestShare = Features, 0, 0
	c.Features.Train.Features = fileOf(t, dir, "train.csv", "x,y_Dog,y_cat,y_dog\n1,0,1,1\n2,1,0,0\n3,0,0,1\n")
	c.Features.Validation.Features = fileOf(t, dir, "val.csv", "x,y_CAT,y_DOG\n1,1,0\n2,0,1\n")
	c.Features.LabelColumns = []string{"y_*"}
	refuseData(t, "spellings that differ", &c, `no column for the word "y_Dog"`)
	c.JoinLabels = true
	d := openedData(t, &c)
	if words := d.Train.Vocabulary.Texts(); !slices.Equal(words, []string{"y_dog", "y_cat"}) ||
		!slices.Equal(d.Train.Labels.Uint8s(), []uint8{1, 1, 1, 0, 1, 0}) ||
		!slices.Equal(d.Validation.Labels.Uint8s(), []uint8{0, 1, 1, 0}) {
		t.Errorf("labels %v and %v of %q", d.Train.Labels.Uint8s(), d.Validation.Labels.Uint8s(), words)
	}
	if !slices.Equal(d.Spellings, []string{"y_Dog"}) || strings.Contains(d.Describe(), "nearly equal") {
		t.Errorf("spellings %q; %s", d.Spellings, d.Describe())
	}
	c.Features.Validation.Features = fileOf(t, dir, "other.csv", "z,y_cat,y_dog\n1,1,0\n2,0,1\n")
	refuseData(t, "another feature", &c, `lacks the column "x", which is feature 1 of `)
	c.JoinLabels, c.Features.Validation.Features = false, ""
	if text := openedData(t, &c).Describe(); !strings.Contains(text, "nearly equal: y_Dog and y_dog; `data.join_labels`") {
		t.Errorf("not joined: %s", text)
	}
}
