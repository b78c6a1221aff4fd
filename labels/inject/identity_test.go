package inject

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/labels"
	"nmn/loader"
)

// Files of noise from an earlier version must still match their sets.
func TestFingerprint_IsThatOfEarlierVersions(t *testing.T) {
	s := captionSet(t, 3, 2)
	for kind, want := range map[Kind]string{Uniform: "cf5840733af43220", Shift: "cf5840733af43220",
		Flips: "1d86b5146b6dc71a"} {
		if got := fingerprint(s, kind); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s…", kind, got, want)
		}
	}
}

// Sets that read alike when their names are put together are different sets.
func TestFingerprint_TellsNamesApart(t *testing.T) {
	set := func(ids ...string) *loader.Set {
		return expect.Value(loader.NewCaptionSet("s", ids, [][]string{{"dog"}, {"cat"}}, 1, vocabularyOf(t, "dog", "cat")))(t)
	}
	for _, kind := range []Kind{Uniform, Flips} {
		if fingerprint(set("ab", "c"), kind) == fingerprint(set("a", "bc"), kind) {
			t.Errorf("%s: the pictures ab and c count as a and bc", kind)
		}
	}
}

// The same seed makes the same labels wrong in every version.
func TestDraws_AreThoseOfEarlierVersions(t *testing.T) {
	s := captionSet(t, 4, 3)
	replaced := []BagChanges{
		{Bag: 0, Captions: []Replacement{{1, 2, 2}, {2, 2, 0}}},
		{Bag: 1, Captions: []Replacement{{0, 3, 0}, {2, 0, 0}}},
		{Bag: 2, Captions: []Replacement{{0, 0, 2}, {1, 1, 2}}},
		{Bag: 3, Captions: []Replacement{{1, 2, 0}, {2, 2, 2}}},
	}
	if got := mustReplace(t, s, 2, 11).Changes; !reflect.DeepEqual(got, replaced) {
		t.Errorf("captions %+v, want %+v", got, replaced)
	}
	flipped := []BagChanges{
		{Bag: 0, Flips: []int{0, 4, 5}}, {Bag: 1, Flips: []int{0, 2, 3}}, {Bag: 2, Flips: []int{3, 4}},
		{Bag: 3, Flips: []int{5}},
	}
	if got := mustFlip(t, s, uniformRates(.4, .3), 11).Changes; !reflect.DeepEqual(got, flipped) {
		t.Errorf("flips %+v, want %+v", got, flipped)
	}
}

func TestApply_RefusesAnUnknownKind(t *testing.T) {
	s := captionSet(t, 4, 3)
	noise := mustReplace(t, s, 1, 1)
	noise.Kind = "smudges"
	if noisy, err := noise.Apply(s); noisy != nil || !errors.Is(err, loader.ErrAnnotations) ||
		!strings.Contains(err.Error(), `unknown kind "smudges"`) {
		t.Errorf("%v, %v", noisy, err)
	}
}

// failingRows fails after the first row.
type failingRows struct{}

var errRow = errors.New("the row cannot be read")

func (failingRows) Len() int { return 3 }

func (failingRows) KnowsTruth() bool { return false }

func (failingRows) Read(_ context.Context, bag int, row *loader.Row) error {
	row.Captions, row.Labels = [][]int32{{0}}, append(row.Labels[:0], 0)
	if bag > 0 {
		return errRow
	}
	return nil
}

// An error of the labels beneath comes up; a bag that could not be read has no labels to flip.
func TestFlippedRows_PassErrorsOn(t *testing.T) {
	always := labels.Rates{Q01: []float64{1}, Q10: []float64{1}}
	flipped := flippedRows{Rows: failingRows{}, draw: newFlipDraw(2, always, 1)}
	replaced := replacedRows{Rows: failingRows{}, draw: replacementDraw{kind: Uniform, n: 1, donors: &donors{bags: 3}}}
	for name, rows := range map[string]loader.Rows{"flips": &flipped, "captions": &replaced} {
		if err := rows.Read(t.Context(), 2, new(loader.Row)); !errors.Is(err, errRow) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var row loader.Row
	if err := flipped.Read(t.Context(), 0, &row); err != nil || !reflect.DeepEqual(row.Labels, []int32{1}) {
		t.Errorf("labels %d, %v; want the other of two", row.Labels, err)
	}
}

func TestStatistics_ReadAsASentence(t *testing.T) {
	s := Statistics{Set: "coco", Reference: "truth", Bags: 7, Classes: make([]ClassStatistics, 3),
		Mean: ClassStatistics{Q01: .25, Q10: .125, Wrong: .5}}
	var b strings.Builder
	expect.OK(t, s.WriteText(&b, "pictures"))
	for _, want := range []string{"coco, 7 pictures, 3 classes, against the truth:\n", "q01 = p(z=0|y=1)   25.0 %",
		"q10 = p(z=1|y=0)   12.5 %", "50.0 % are incorrect"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q lacks %q", b.String(), want)
		}
	}
}
