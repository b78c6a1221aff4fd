package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/picture"
)

// numberedSource paints bag i as one pixel of value i and has i+1 frames.
type numberedSource struct{}

func (numberedSource) Frames(bag int) int { return bag + 1 }
func (numberedSource) Read(_ context.Context, bag, frame int, pic *picture.Picture) error {
	pic.Width, pic.Height, pic.Pix = 1, 1, []uint8{uint8(bag), uint8(frame), 0}
	return nil
}

func TestSubset_CarriesEverythingAlong(t *testing.T) {
	s := captionSet(t, 6, 5)
	s.Truth = Matrix(slices.Clone(s.Labels.Uint8s()), 6)
	s.Truth.Uint8s()[3*6+2] ^= 1
	s.Source = numberedSource{}
	indices := []int{4, 0, 3}
	part, err := Subset(s, "part", indices)
	expect.OK(t, err)
	if part.Name != "part" || part.Vocabulary != s.Vocabulary || part.CaptionsPerSample != 5 || part.Len() != 3 {
		t.Errorf("subset %+v", part)
	}
	for at, i := range indices {
		for m, pair := range map[string][2][]uint8{
			"labels": {part.Labels.Uint8s(), s.Labels.Uint8s()}, "truth": {part.Truth.Uint8s(), s.Truth.Uint8s()},
			"counts": {part.Counts.Uint8s(), s.Counts.Uint8s()},
		} {
			if !bytes.Equal(pair[0][at*6:at*6+6], pair[1][i*6:i*6+6]) {
				t.Errorf("%s of bag %d differ", m, i)
			}
		}
		if part.IDs[at] != s.IDs[i] || !reflect.DeepEqual(part.Captions[at], s.Captions[i]) || part.Source.Frames(at) != i+1 {
			t.Errorf("bag %d became %s with %d frames", i, part.IDs[at], part.Source.Frames(at))
		}
		var pic picture.Picture
		if err := part.Source.Read(context.Background(), at, 2, &pic); err != nil || pic.Pix[0] != uint8(i) ||
			pic.Pix[1] != 2 {
			t.Errorf("picture of bag %d: %v, %v", i, pic, err)
		}
	}
	indices[0] = 5 // the caller may reuse its slice
	var pic picture.Picture
	if part.Source.Read(context.Background(), 0, 0, &pic); pic.Pix[0] != 4 {
		t.Error("the subset follows the slice of its caller")
	}
	if err := part.Source.Read(context.Background(), 3, 0, &pic); err == nil {
		t.Error("a bag beyond the subset was read")
	}
	part.Labels.Uint8s()[0] ^= 1
	if part.Labels.Uint8s()[0] == s.Labels.Uint8s()[4*6] {
		t.Error("the labels of the subset are those of the set")
	}
}

func TestSubset_HasNothingThatTheSetLacks(t *testing.T) {
	part, err := Subset(&Set{Name: "s", IDs: []string{"a"}, Source: numberedSource{}}, "p", []int{0})
	expect.OK(t, err)
	if part.Truth != nil || part.Captions != nil || part.Counts != nil {
		t.Error("a subset has what the set lacks")
	}
}

func TestSubset_RefusesBadIndices(t *testing.T) {
	s := captionSet(t, 4, 2)
	for want, indices := range map[string][]int{"without samples": {}, "index 4 (number 1)": {0, 4}, "index -1": {-1},
		"sample 2 (bagc) of pattern is chosen twice": {2, 1, 2}} {
		if _, err := Subset(s, "p", indices); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", indices, err, want)
		}
	}
}

func TestSplitHalves_DependsOnIDsAndSeedAlone(t *testing.T) {
	s := captionSet(t, 101, 2)
	a, b, err := SplitHalves(s, 1)
	expect.OK(t, err)
	if a.Len() != 51 || b.Len() != 50 {
		t.Fatalf("halves of %d and %d bags", a.Len(), b.Len())
	}
	all := slices.Sorted(slices.Values(append(slices.Clone(a.IDs), b.IDs...)))
	if !slices.Equal(all, slices.Sorted(slices.Values(s.IDs))) {
		t.Error("the halves are not the whole")
	}
	backwards := make([]int, s.Len())
	for i := range backwards {
		backwards[i] = s.Len() - 1 - i
	}
	r, err := Subset(s, "backwards", backwards)
	expect.OK(t, err)
	reversed, _, err := SplitHalves(r, 1)
	expect.OK(t, err)
	slices.Reverse(reversed.IDs)
	if !slices.Equal(a.IDs, reversed.IDs) {
		t.Error("another order of the set gives other halves, or the order of the set is lost")
	}
	if other, _, _ := SplitHalves(s, 2); slices.Equal(a.IDs, other.IDs) {
		t.Error("another seed gives the same halves")
	}
	if _, _, err := SplitHalves(captionSet(t, 1, 1), 1); err == nil {
		t.Error("one bag was split")
	}
}

// The rule is documented and must not change: published splits rest on it.
func TestSplitHalves_KnownAnswer(t *testing.T) {
	ids := make([]string, 10)
	captions := make([][]string, 10)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	s, err := NewCaptionSet("ten", ids, captions, 5, vocabularyOf(t, "dog"))
	expect.OK(t, err)
	a, _, err := SplitHalves(s, 0)
	expect.OK(t, err)
	if got, want := strings.Join(a.IDs, ""), "12369"; got != want {
		t.Errorf("first half %s, want %s", got, want)
	}
}

func TestSplitByIDs(t *testing.T) {
	s := captionSet(t, 5, 2)
	parts, err := SplitByIDs(s, []string{"bage", "baga"}, []string{"bagc"})
	expect.OK(t, err)
	if !slices.Equal(parts[0].IDs, []string{"bage", "baga"}) || !slices.Equal(parts[1].IDs, []string{"bagc"}) {
		t.Errorf("parts %v and %v", parts[0].IDs, parts[1].IDs)
	}
	for want, lists := range map[string][][]string{
		`list 1, entry 2: there is no sample "nobody"`: {{"baga", "nobody"}},
		`list 2, entry 1: "baga" is in list 1 already`: {{"baga"}, {"baga"}},
		`entry 2: "baga" is in list 1 already`:         {{"baga", "baga"}},
	} {
		if _, err := SplitByIDs(s, lists...); !errors.Is(err, ErrAnnotations) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestParseIDs(t *testing.T) {
	ids, err := parseIDs("l", strings.NewReader("\ufeff42\r\n# a comment\n\n  COCO_val2014_7.jpg \nx y"))
	if err != nil || !slices.Equal(ids, []string{"42", "COCO_val2014_7.jpg", "x y"}) {
		t.Errorf("%q, %v", ids, err)
	}
	for in, want := range map[string]string{
		"a\nb\n\na": `line 4: "a" repeats line 1`, "": "no ids", "# only\n": "no ids",
		"a\n" + strings.Repeat("x", 5000): "line 2: longer than 4096 bytes",
	} {
		if _, err := parseIDs("l", strings.NewReader(in)); !errors.Is(err, ErrAnnotations) ||
			!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"l"`) {
			t.Errorf("%.20q: error %v, want one with %q", in, err, want)
		}
	}
}

func FuzzParseIDs(f *testing.F) {
	for _, s := range []string{"1\n2\n", "\ufeffa\r\n#\n", "a\na", "\x00\n \n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		ids, err := parseIDs("fuzz", bytes.NewReader(in))
		if err != nil {
			return
		}
		readBack, err := parseIDs("again", strings.NewReader(strings.Join(ids, "\n")))
		if err != nil || !slices.Equal(ids, readBack) {
			t.Fatalf("%q read again: %q, %v", ids, readBack, err)
		}
	})
}

func TestWriteIDs_ReadsBackOrIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.txt")
	want := []string{"b/1.jpg", "a 2.jpg", "3"}
	expect.OK(t, WriteIDs(path, want))
	if got, err := ReadIDs(t.Context(), path); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ReadIDs(t.Context(), path+"x"); err == nil || !strings.Contains(err.Error(), "ids.txtx") {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, bad := range []string{"", "#1", " x", "two\nlines", "a"} {
		if err := WriteIDs(path, []string{"a", bad}); err == nil {
			t.Errorf("%q is written, and read as another", bad)
		}
	}
	if got, err := ReadIDs(t.Context(), path); err != nil || !slices.Equal(got, want) {
		t.Errorf("a list that is refused has harmed the one that was there: %q, %v", got, err)
	}
}

func TestFrames_EveryFrameIsABagWithTheLabelsOfItsVideo(t *testing.T) {
	source := raggedClips()
	videos := clipSet(t, source)
	frames, index, err := Frames(t.Context(), videos)
	expect.OK(t, err)
	config := clipConfig()
	config.Shuffle, config.Flip = false, false
	seen := 0
	for _, b := range mustReadEpoch(t, mustLoader(t, frames, config), 0, 0) {
		if b.N != b.T {
			t.Fatalf("batch %d has %d bags of %d frames, want one each", b.Number, b.N, b.T)
		}
		for n := range b.N {
			video, position := index.Of(seen)
			if want := fmt.Sprintf("clip-%d#%d", video, position); b.IDs[n] != want {
				t.Errorf("frame %d is %q, want %q", seen, b.IDs[n], want)
			}
			if got, want := b.Pixels[n*48], level(video, position); got != want {
				t.Errorf("frame %d has level %d, want %d", seen, got, want)
			}
			for c := range 3 {
				if b.Labels[3*n+c] != float32(video>>c&1) {
					t.Errorf("frame %d of video %d has labels %v", seen, video, b.Labels[3*n:3*n+3])
				}
			}
			seen++
		}
	}
	if want := 24; seen != want || index.Frames() != want || index.Videos() != len(source.frames) {
		t.Errorf("%d frames read, %d of %d videos in the index, want %d of %d",
			seen, index.Frames(), index.Videos(), want, len(source.frames))
	}
}

func TestFrames_OneBrokenFrameCostsNoOther(t *testing.T) {
	source := raggedClips()
	source.broken = map[[2]int]error{{1, 1}: fmt.Errorf("torn: %w", ErrCorrupt)}
	frames, index, err := Frames(t.Context(), clipSet(t, source))
	expect.OK(t, err)
	config := clipConfig()
	config.Shuffle, config.MaxBadSamples = false, 1
	var read []int
	for _, b := range mustReadEpoch(t, mustLoader(t, frames, config), 0, 0) {
		read = append(read, b.Index...)
	}
	if slices.Contains(read, 2) || len(read) != index.Frames()-1 {
		t.Errorf("read frames %v, want all of %d but 2", read, index.Frames())
	}
}

func TestFrames_BagsWithoutFrames(t *testing.T) {
	source := raggedClips()
	source.frames[4] = 0
	if _, _, err := Frames(t.Context(), clipSet(t, source)); err == nil || !strings.Contains(err.Error(), "clip-4") {
		t.Errorf("error %v, want one that names clip-4", err)
	}
	frames, _, err := Frames(t.Context(), clipSet(t, raggedClips()))
	expect.OK(t, err)
	for _, place := range [][2]int{{-1, 0}, {24, 0}, {3, 1}} {
		if err := frames.Source.Read(context.Background(), place[0], place[1], &picture.Picture{}); err == nil {
			t.Errorf("frame %d of bag %d can be read", place[1], place[0])
		}
	}
}
