package loader

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/loader/picture"
)

// keptOf keeps all captions of a set.
func keptOf(s *Set) [][]bool {
	kept := make([][]bool, len(s.CaptionsInUse))
	for n, of := range s.CaptionsInUse {
		kept[n] = slices.Repeat([]bool{true}, len(of))
	}
	return kept
}

func TestOfCaptions_LabelsAreThoseOfCaptionsKept(t *testing.T) {
	s := captionSet(t, 6, 5)
	s.Truth = Matrix(bytes.Repeat([]uint8{1, 0, 0, 1, 0, 1}, 6), 6)
	s.Source = numberedSource{}
	said := slices.Clone(s.Captions) // caption 2 of bag 0 comes from another bag; Said has it, Captions does not
	said[0] = slices.Clone(said[0])
	said[0][2] = []int32{4}
	s.CaptionsInUse = said
	kept := keptOf(s)
	kept[0] = []bool{false, false, true, false, false}
	kept[3] = []bool{true, false, true, false, true}
	before := slices.Clone(s.Labels.Uint8s())

	got, err := s.OfCaptions("kept", kept)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "kept" || s.Name != "pattern" || got.Len() != 6 || !bytes.Equal(s.Labels.Uint8s(), before) {
		t.Errorf("%s of %d bags; the set is %s", got.Name, got.Len(), s.Name)
	}
	for n := range s.Len() {
		want := make([]uint8, 6)
		var captions [][]int32
		for c, k := range kept[n] {
			if !k {
				continue
			}
			captions = append(captions, said[n][c])
			for _, class := range said[n][c] {
				want[class] = 1
			}
		}
		if row := got.Labels.Uint8s()[n*6 : n*6+6]; !bytes.Equal(row, want) {
			t.Errorf("bag %d: labels %v, want %v", n, row, want)
		}
		if !reflect.DeepEqual(got.CaptionsInUse[n], captions) {
			t.Errorf("bag %d says %v, want %v", n, got.CaptionsInUse[n], captions)
		}
	}
	if got.Truth != s.Truth || got.Counts != s.Counts || !reflect.DeepEqual(got.Captions, s.Captions) ||
		got.Source != s.Source || !slices.Equal(got.IDs, s.IDs) || len(s.CaptionsInUse[3]) != 5 {
		t.Error("more than labels and captions said changed")
	}
}

// Bags without a kept caption are left out, in all parts of the set.
func TestOfCaptions_LeavesBagsOut(t *testing.T) {
	s := captionSet(t, 6, 5)
	s.Truth = Matrix(slices.Clone(s.Labels.Uint8s()), 6)
	s.Truth.Uint8s()[4*6+2] ^= 1
	s.Source = numberedSource{}
	kept := keptOf(s)
	for _, n := range []int{0, 2, 5} {
		clear(kept[n])
	}
	kept[4][0], kept[4][3] = false, false
	got, err := s.OfCaptions("kept", kept)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "kept" || got.Len() != 3 || got.CaptionsPerBag != 5 || got.Vocabulary != s.Vocabulary {
		t.Fatalf("%d bags in %s", got.Len(), got.Name)
	}
	for at, n := range []int{1, 3, 4} {
		row := func(m []uint8, i int) []uint8 { return m[i*6 : i*6+6] }
		if got.IDs[at] != s.IDs[n] || !bytes.Equal(row(got.Truth.Uint8s(), at), row(s.Truth.Uint8s(), n)) ||
			!bytes.Equal(row(got.Counts.Uint8s(), at), row(s.Counts.Uint8s(), n)) ||
			!reflect.DeepEqual(got.Captions[at], s.Captions[n]) {
			t.Errorf("bag %d of those kept is not %s with all that it has", at, s.IDs[n])
		}
		var pic picture.Picture
		if err := got.Source.Read(context.Background(), at, 0, &pic); err != nil || pic.Pix[0] != uint8(n) {
			t.Errorf("bag %d has the picture of %d (%v)", at, pic.Pix[0], err)
		}
	}
	if len(got.CaptionsInUse[2]) != 3 || len(got.CaptionsInUse[0]) != 5 {
		t.Errorf("captions %v", got.CaptionsInUse)
	}
	none := keptOf(s)
	for _, of := range none {
		clear(of)
	}
	if _, err := s.OfCaptions("kept", none); err == nil || !strings.Contains(err.Error(), "without samples") {
		t.Errorf("no caption of any bag is kept: %v", err)
	}
}

func TestOfCaptions_RefusesOtherSizes(t *testing.T) {
	s := captionSet(t, 4, 3)
	more, fewer, long := keptOf(s), keptOf(s), keptOf(s)
	more = append(more, []bool{true})
	fewer[2] = fewer[2][:2]
	long[1] = append(long[1], false)
	for name, kept := range map[string][][]bool{"nil": nil, "a bag more": more, "a caption less": fewer,
		"a caption more": long} {
		if _, err := s.OfCaptions("kept", kept); err == nil || !strings.Contains(err.Error(), "pattern") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	flipped := *s
	flipped.CaptionsInUse = nil
	if _, err := flipped.OfCaptions("kept", keptOf(s)); err == nil {
		t.Error("captions that labels do not come from are kept")
	}
}

// CaptionsInUse follows its bags, and goes if labels no longer come from captions.
func TestCaptionsInUse_FollowLabels(t *testing.T) {
	s := captionSet(t, 5, 3)
	if !reflect.DeepEqual(s.CaptionsInUse, s.Captions) || s.CaptionsInUse == nil {
		t.Fatalf("captions say %v, want %v", s.CaptionsInUse, s.Captions)
	}
	s.CaptionsInUse = slices.Clone(s.CaptionsInUse)
	s.CaptionsInUse[3] = [][]int32{{1}, {2}, {3}}
	part, err := Subset(s, "part", []int{3, 0})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(part.CaptionsInUse, [][][]int32{s.CaptionsInUse[3], s.CaptionsInUse[0]}) ||
		!reflect.DeepEqual(part.Captions, [][][]int32{s.Captions[3], s.Captions[0]}) {
		t.Errorf("bags 3 and 0 say %v, of %v", part.CaptionsInUse, part.Captions)
	}
	s.Truth = Matrix(slices.Clone(s.Labels.Uint8s()), 6)
	if known := s.TruthAsLabels(); known.CaptionsInUse != nil || s.CaptionsInUse == nil {
		t.Error("true labels are said to come from captions")
	}
	s.CaptionsInUse = nil
	if part, err := Subset(s, "part", []int{3, 0}); err != nil || part.CaptionsInUse != nil {
		t.Errorf("a subset has what the set lacks (%v)", err)
	}
}
