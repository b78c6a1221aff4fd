package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/labels/inject"
	"nmn/loader"
)

// writeFile writes a file, and the folders above it.
func writeFile(t testing.TB, path, content string) {
	t.Helper()
	expect.OK(t, os.MkdirAll(filepath.Dir(path), 0o777))
	expect.OK(t, os.WriteFile(path, []byte(content), 0o666))
}

func refuse(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s is no error", what)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: the message %v does not say %q", what, err, part)
		}
	}
}

// refuseData wants an error of opening data.
func refuseData(t *testing.T, what string, c *Config, parts ...string) {
	t.Helper()
	d, err := Open(t.Context(), c, Options{})
	if err == nil {
		d.Close()
	}
	refuse(t, what, err, parts...)
}

func openedData(t *testing.T, c *Config) *Splits {
	t.Helper()
	d, err := Open(t.Context(), c, Options{})
	expect.OK(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// featureFile writes a table with the given number of rows in each split. Every third row has a cat and the
// others a dog. The one feature is 10 or 12 in training and far from there elsewhere.
func featureFile(t *testing.T, train, validation, test int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,x,split,cat,dog\n")
	for _, split := range []struct {
		name  string
		rows  int
		level int
	}{{"train", train, 10}, {"validation", validation, 1000}, {"test", test, 5000}} {
		for i := range split.rows {
			cat := 0
			if i%3 == 0 {
				cat = 1
			}
			fmt.Fprintf(&b, "%s-%d,%d,%s,%d,%d\n", split.name, i, split.level+2*(i%2), split.name, cat, 1-cat)
		}
	}
	return fileOf(t, t.TempDir(), "x.csv", b.String())
}

func openFeatureFile(t *testing.T, path string, change func(*Config)) *Splits {
	t.Helper()
	c := DefaultConfig()
	c.Set, c.Features.Train.Features, c.Features.LabelColumns = Features, path, []string{"cat", "dog"}
	change(&c)
	d := openedData(t, &c)
	if _, err := d.Standardise(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	return d
}

// flipsOf compares the labels of a set with its truth: true if a label was flipped.
func flipsOf(s *loader.Set) []bool {
	flipped := make([]bool, s.Len()*s.Vocabulary.Len())
	for i, z := range s.Labels.Uint8s() {
		flipped[i] = z != s.Truth.Uint8s()[i]
	}
	return flipped
}

// rateOf is the share of the labels with this truth that are flipped.
func rateOf(s *loader.Set, truth uint8) float64 {
	flips, all := 0, 0
	for i, flipped := range flipsOf(s) {
		if s.Truth.Uint8s()[i] == truth {
			all++
			if flipped {
				flips++
			}
		}
	}
	return float64(flips) / float64(all)
}

// Validation chooses checkpoints and must have no cleaner labels than training: its labels are flipped too,
// by draws of their own. Metrics use the labels of the file, and test labels are not flipped.
func TestFlips_OfTrainingAndValidation(t *testing.T) {
	const rows = 600
	path := featureFile(t, rows, rows, 30)
	whole := openFeatureFile(t, path, func(*Config) {})
	open := func(seed, noiseSeed uint64) *Splits {
		return openFeatureFile(t, path, func(c *Config) { c.Flips, c.Seed, c.NoiseSeed = "0.4:0.2", seed, noiseSeed })
	}
	d := open(1, 0)
	for name, s := range map[string][2]*loader.Set{"training": {d.Train, whole.Train},
		"validation": {d.Validation, whole.Validation}} {
		if !slices.Equal(s[0].Truth.Uint8s(), s[1].Labels.Uint8s()) {
			t.Errorf("the truth of %s is not what the file says", name)
		}
		if missing, incorrect := rateOf(s[0], 1), rateOf(s[0], 0); math.Abs(missing-.4) > .07 ||
			math.Abs(incorrect-.2) > .07 {
			t.Errorf("%s: %.3f of the labels are missing and %.3f incorrect, want .4 and .2", name, missing, incorrect)
		}
	}
	if z := whole.Test.Labels.Uint8s(); !slices.Equal(d.Test.Labels.Uint8s(), z) || !d.Test.KnowsTruth() ||
		!slices.Equal(d.Test.Truth.Uint8s(), z) {
		t.Error("the labels of the test split, or its truth, are not what the file says")
	}
	train, validation := flipsOf(d.Train), flipsOf(d.Validation)
	same := 0
	for i, f := range train {
		if f && validation[i] {
			same++
		}
	}
	if both := float64(same) / float64(len(train)); math.Abs(both-.1) > .04 { // (.4² + .2²)/2, of draws apart
		t.Errorf("%.3f of the labels are flipped at the same places of training and validation, want .1", both)
	}
	for _, c := range []struct {
		seed, noiseSeed uint64
		same            bool
	}{{1, 0, true}, {2, 1, true}, {1, 2, false}, {2, 0, false}} { // the noise seed overrides the data seed
		other := open(c.seed, c.noiseSeed)
		if slices.Equal(flipsOf(other.Train), train) != c.same ||
			slices.Equal(flipsOf(other.Validation), validation) != c.same {
			t.Errorf("seed %d, seed of the noise %d: flips of seed 1 again: %t", c.seed, c.noiseSeed, !c.same)
		}
	}
}

// Other noise is drawn for the labels of the files, not for those that are noisy already; and what is drawn can be
// taken back, and shared.
func TestFlips_StartFromTheLabelsOfTheFiles(t *testing.T) {
	path := featureFile(t, 90, 60, 0)
	whole := openFeatureFile(t, path, func(*Config) {})
	little := func(c *Config) { c.Flips = "0.1:0.1" }
	d, want := openFeatureFile(t, path, func(c *Config) { c.Flips = "0.5:0.5" }), openFeatureFile(t, path, little)
	c := DefaultConfig()
	little(&c)
	again, err := d.WithNoise(t.Context(), &c)
	expect.OK(t, err)
	dir := t.TempDir()
	expect.OK(t, want.WriteFlips(dir))
	clean := d.WithTrueLabels()
	for _, s := range []struct {
		name                            string
		whole, noisy, again, want, true *loader.Set
		file                            string
	}{
		{"training", whole.Train, d.Train, again.Train, want.Train, clean.Train, FlipsFile},
		{"validation", whole.Validation, d.Validation, again.Validation, want.Validation, clean.Validation,
			ValidationFlipsFile},
	} {
		if slices.Equal(s.noisy.Labels.Uint8s(), s.want.Labels.Uint8s()) {
			t.Fatalf("%s: half of the labels flipped are as a tenth", s.name)
		}
		if !slices.Equal(s.again.Labels.Uint8s(), s.want.Labels.Uint8s()) {
			t.Errorf("%s: flips drawn after others are not those drawn alone", s.name)
		}
		if !slices.Equal(s.true.Labels.Uint8s(), s.whole.Labels.Uint8s()) {
			t.Errorf("%s: true labels are not those of the file", s.name)
		}
		shared, err := inject.Read(t.Context(), filepath.Join(dir, s.file), s.whole)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		applied, err := shared.Apply(s.whole)
		if err != nil || !slices.Equal(applied.Labels.Uint8s(), s.want.Labels.Uint8s()) {
			t.Errorf("%s: the flips of %s make other labels (%v)", s.name, s.file, err)
		}
	}
}

// q01 is the share of labels that go missing, q10 the share that are set, for each word.
func TestFlips_RatesOfAFile(t *testing.T) {
	rates := fileOf(t, t.TempDir(), "rates.csv", "class,q10,q01\ndog,1,0\ncat,0,1\n")
	d := openFeatureFile(t, featureFile(t, 30, 12, 0), func(c *Config) { c.FlipRates = rates })
	for _, s := range []*loader.Set{d.Train, d.Validation} {
		for bag := range s.Len() {
			if z := s.Labels.Uint8s()[2*bag:]; z[0] != 0 || z[1] != 1 { // all cats are missing, all are called dogs
				t.Errorf("%s: row %d has the labels %v, want [0 1]", s.Name, bag, z[:2])
			}
		}
	}
	if d.Flips.Q01 != .5 || d.Flips.Q10 != .5 {
		t.Errorf("mean rates %+v", d.Flips)
	}
}

// Features are brought to the scale of the training rows. Others have no part in it, least of all those that are
// judged.
func TestStandardise_MeasuresTrainingRowsAlone(t *testing.T) {
	for name, change := range map[string]func(*Config){"clean": func(*Config) {},
		"noisy": func(c *Config) { c.Flips = "0.3:0.3" }} {
		d := openFeatureFile(t, featureFile(t, 40, 20, 20), func(c *Config) {
			c.Features.Standardise = true
			change(c)
		})
		s := d.Train.Standard
		if s == nil || d.clean.Standard != s || !slices.Equal(s.Mean, []float32{11}) || !slices.Equal(s.Scale, []float32{1}) {
			t.Errorf("%s: standard %+v, want a mean of 11 and a scale of 1", name, s)
		}
		raw := openFeatureFile(t, featureFile(t, 4, 0, 0), func(c *Config) {
			c.Features.Standardise = false
			change(c)
		})
		if raw.Train.Standard != nil {
			t.Errorf("%s: a standard that nobody asked for: %+v", name, raw.Train.Standard)
		}
	}
}

// Which rows are held out depends on their names and the seed, not on their order in the file.
func TestHoldOut_IsOfNamesAndSeed(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("row-%d,%d,%d", i, i, i%2))
	}
	heldOut := func(seed uint64) (validation, test string) {
		path := fileOf(t, t.TempDir(), "x.csv", "id,x,cat\n"+strings.Join(lines, "\n")+"\n")
		d := openFeatureFile(t, path, func(c *Config) {
			c.Features.LabelColumns, c.Seed, c.ValidationShare, c.TestShare = []string{"cat"}, seed, .25, .1
		})
		if v, test := d.Validation.Len(), d.Test.Len(); v != 10 || test != 4 || d.Train.Len() != 26 {
			t.Errorf("%d rows to train on, %d of validation, %d of test", d.Train.Len(), v, test)
		}
		all := slices.Concat(d.Train.IDs, d.Validation.IDs, d.Test.IDs)
		if slices.Sort(all); len(slices.Compact(all)) != 40 {
			t.Error("a row is in two splits")
		}
		named := func(s *loader.Set) string { return fmt.Sprint(slices.Sorted(slices.Values(s.IDs))) }
		return named(d.Validation), named(d.Test)
	}
	validation, test := heldOut(1)
	slices.Reverse(lines)
	if v, s := heldOut(1); v != validation || s != test {
		t.Errorf("held out %s and %s, of the rows in another order %s and %s", validation, test, v, s)
	}
	if v, s := heldOut(2); v == validation || s == test {
		t.Errorf("another seed holds out the same rows: %s, %s", v, s)
	}
}

// Weights count relative to their mean over the training rows, whatever is held out. Equal ones are none.
func TestOpen_WeightsOfTrainingRows(t *testing.T) {
	write := func(content string) string { return fileOf(t, t.TempDir(), "w.csv", content) }
	path := featureFile(t, 3, 1, 1)
	open := func(weights string) *Splits {
		return openFeatureFile(t, path, func(c *Config) { c.Features.Weights = write(weights) })
	}
	if d := open("w\n1\n4\n1\n100\n0\n"); !slices.Equal(d.Train.Weights, []float32{.5, 2, .5}) {
		t.Errorf("weights %v", d.Train.Weights)
	}
	if d := open("w\n0.1\n0.1\n0.1\n9\n9\n"); d.Train.Weights != nil {
		t.Errorf("equal weights are %v", d.Train.Weights)
	}
	for name, change := range map[string]func(*Config){
		"the weights of all 3 training rows are 0": func(c *Config) {
			c.Features.Weights = write("w\n0\n0\n0\n1\n1\n")
		},
		"no column \"w\"": func(c *Config) { c.Features.WeightColumn = "w" },
	} {
		c := DefaultConfig()
		c.Set, c.Features.Train.Features, c.Features.LabelColumns = Features, path, []string{"cat", "dog"}
		change(&c)
		if _, err := Open(t.Context(), &c, Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

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
	if !slices.Equal(d.LabelColumns, []string{"y_Dog", "y_cat", "y_dog"}) ||
		strings.Contains(d.Describe(), "nearly equal") {
		t.Errorf("columns %q; %s", d.LabelColumns, d.Describe())
	}
	c.Features.Validation.Features = fileOf(t, dir, "other.csv", "z,y_cat,y_dog\n1,1,0\n2,0,1\n")
	refuseData(t, "another feature", &c, `lacks the column "x", which is feature 1 of `)
	c.JoinLabels, c.Features.Validation.Features = false, ""
	if text := openedData(t, &c).Describe(); !strings.Contains(text, "nearly equal: y_Dog and y_dog; `data.join_labels`") {
		t.Errorf("not joined: %s", text)
	}
}
