package loader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/picture"
)

// labelSequence gives labels one by one.
func labelSequence(labels ...ClipLabel) iter.Seq2[ClipLabel, error] {
	return func(yield func(ClipLabel, error) bool) {
		for _, label := range labels {
			if !yield(label, nil) {
				return
			}
		}
	}
}

func writeLabels(t testing.TB, form ClipLabelsForm, labels ...ClipLabel) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "labels.jsonl")
	expect.OK(t, WriteClipLabels(path, form, labelSequence(labels...)))
	return path
}

func mustOpenLabels(t testing.TB, path string) *ClipLabels {
	t.Helper()
	labels, err := OpenClipLabels(path)
	expect.OK(t, err)
	t.Cleanup(func() { _ = labels.Close() })
	return labels
}

// streamSet is a set of clips with the given numbers of frames; captions name the bits of the clips' numbers.
func streamSet(t testing.TB, frames ...int) *Set {
	t.Helper()
	words := []string{"red", "dog", "cat"}
	labels := make([]ClipLabel, len(frames))
	for i := range labels {
		labels[i].Clip = fmt.Sprintf("in/video%d.mp4", i)
		labels[i].Captions = []string{}
		for bit, word := range words {
			if i>>bit&1 == 1 {
				labels[i].Captions = append(labels[i].Captions, "the "+word+" and the "+word, "a "+word+" !")
			}
		}
	}
	set, err := StreamClips("stream", mustOpenClips(t, writeClips(t, frames...)),
		mustOpenLabels(t, writeLabels(t, ClipLabelsForm{CaptionsPerSample: 20}, labels...)), vocabularyOf(t, words...))
	expect.OK(t, err)
	return set
}

func streamConfig() Config {
	config := clipConfig()
	config.Size, config.Block, config.Window = 16, 2, 2
	return config
}

func TestStreamClips_EveryClipWithItsLabels(t *testing.T) {
	set := streamSet(t, 1, 3, 2, 1, 4, 1, 2, 5)
	seen := map[int]bool{}
	for _, b := range mustReadEpoch(t, mustLoader(t, set, streamConfig()), 2, 0) {
		for n, bag := range b.Index {
			seen[bag] = true
			if b.IDs[n] != fmt.Sprintf("in/video%d.mp4", bag) {
				t.Errorf("bag %d is %q", bag, b.IDs[n])
			}
			for c := range 3 {
				if b.Labels[3*n+c] != float32(bag>>c&1) {
					t.Errorf("bag %d has labels %v", bag, b.Labels[3*n:3*n+3])
				}
			}
			got, want := b.Pixels[int(b.Offsets[n])*16*16*3], greyOf(bag, 0)
			if got+1 < want || got > want+1 {
				t.Errorf("bag %d has grey %d, want %d", bag, got, want)
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d bags, want 8", len(seen))
	}
}

func TestStreamClips_BrokenClipsAreLeftOutWithTheirLabels(t *testing.T) {
	set, config := streamSet(t, 1, 3, 2, 1, 4), streamConfig()
	set.Source = brokenBags{set.Source, []int{0, 2}}
	config.Shuffle, config.BatchSize, config.MaxBadSamples = false, 4, 2
	l := mustLoader(t, set, config)
	var index []int
	for _, b := range mustReadEpoch(t, l, 0, 0) {
		index = append(index, b.Index...)
		for n, bag := range b.Index {
			if b.IDs[n] != fmt.Sprintf("in/video%d.mp4", bag) || b.Labels[3*n] != float32(bag&1) {
				t.Errorf("bag %d is %s with labels %v", bag, b.IDs[n], b.Labels[3*n:3*n+3])
			}
		}
	}
	if !slices.Equal(index, []int{1, 3, 4}) || l.Bad(0)[1].ID != "in/video2.mp4" {
		t.Errorf("bags %v, left out %v", index, l.Bad(0))
	}
}

// brokenBags gives some bags no frames, as a line of the index that cannot be used does.
type brokenBags struct {
	Source
	broken []int
}

func (b brokenBags) Frames(bag int) int {
	if slices.Contains(b.broken, bag) {
		return 0
	}
	return b.Source.Frames(bag)
}

func (b brokenBags) Read(ctx context.Context, bag, frame int, pic *picture.Picture) error {
	if slices.Contains(b.broken, bag) {
		return fmt.Errorf("%w: no frames", ErrCorrupt)
	}
	return b.Source.Read(ctx, bag, frame, pic)
}

// endless reports bags with more frames than fit into any memory.
type endless struct{ Source }

func (endless) Frames(int) int { return math.MaxInt32 / 64 }

func TestStreamClips_RefusesWhatNeedsAllLabels(t *testing.T) {
	set, config := streamSet(t, 1, 1, 1, 1, 1), streamConfig()
	if _, _, err := SplitHalves(set, 1); err == nil || !strings.Contains(err.Error(), "not in memory") {
		t.Errorf("halves: %v", err)
	}
	if _, err := SplitByIDs(set, []string{"in/video1.mp4"}); err == nil {
		t.Error("split by identifiers")
	}
	config.Targets = Matrix(make([]uint8, 15), 3)
	if _, err := New(set, config); err == nil {
		t.Error("soft targets")
	}
	config.Targets = nil
	both := *set
	both.IDs = make([]string, 5)
	if _, err := New(&both, config); err == nil {
		t.Error("identifiers in memory beside rows")
	}
	huge := *set
	huge.Source, config.Size, config.BatchSize = endless{set.Source}, 64, 1
	if _, err := readEpoch(t, mustLoader(t, &huge, config), 0, 0); err == nil ||
		!strings.Contains(err.Error(), "lower BatchSize or Size") {
		t.Errorf("a batch beyond all memory: %v", err)
	}
}

func TestSubset_OfAStream(t *testing.T) {
	part, err := Subset(streamSet(t, 1, 3, 2, 1, 4), "part", []int{4, 1})
	expect.OK(t, err)
	config := streamConfig()
	config.Shuffle = false
	all := mustReadEpoch(t, mustLoader(t, part, config), 0, 0)
	if len(all) != 1 || !slices.Equal(all[0].IDs, []string{"in/video4.mp4", "in/video1.mp4"}) ||
		!slices.Equal(all[0].Labels, []float32{0, 0, 1, 1, 0, 0}) || all[0].T != 7 {
		t.Errorf("batches %+v", all)
	}
	if _, err := Subset(part, "twice", []int{1, 1}); err == nil || !strings.Contains(err.Error(), "chosen twice") {
		t.Errorf("a bag twice: %v", err)
	}
}

func TestClipLabels_CountsOfWords(t *testing.T) {
	v := vocabularyOf(t, "red", "dog", "cat")
	for name, c := range map[string]struct {
		perBag int
		label  ClipLabel
		want   Row
	}{
		"captions": {5, ClipLabel{Captions: []string{"the dog, the red dog", "a cat", "red dogs", "no word"}},
			Row{Labels: []int32{0, 1, 2}, Counts: []Mention{{0, 2}, {1, 1}, {2, 1}}, Captions: [][]int32{{0, 1}, {2}, {0}, {}}}},
		"counts": {5, ClipLabel{Counts: map[string]int{"dog": 5, "red": 2, "bird": 3}},
			Row{Labels: []int32{0, 1}, Counts: []Mention{{0, 2}, {1, 5}}}},
		"labels": {0, ClipLabel{Labels: []string{"cat", "red", "bird", "cat"}}, Row{Labels: []int32{0, 2}}},
		"truth": {0, ClipLabel{Labels: []string{"cat"}, Truth: []string{"dog", "bird", "red"}},
			Row{Labels: []int32{2}, Truth: []int32{0, 1}, Known: true}},
		"nothing":          {0, ClipLabel{}, Row{}},
		"captions of none": {5, ClipLabel{Captions: []string{}}, Row{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.label.Clip = "a"
			labels := mustOpenLabels(t,
				writeLabels(t, ClipLabelsForm{CaptionsPerSample: c.perBag, Truth: c.label.Truth != nil}, c.label))
			row := Row{ID: "old", Labels: []int32{7, 8, 9, 10}, Counts: []Mention{{7, 1}, {8, 2}}, Truth: []int32{4},
				Captions: [][]int32{{5}}, Known: true}
			expect.OK(t, labels.read(0, "a", v, &row))
			if row.ID != "a" || !slices.Equal(row.Labels, c.want.Labels) || !slices.Equal(row.Counts, c.want.Counts) ||
				!slices.Equal(row.Truth, c.want.Truth) || row.Known != c.want.Known ||
				!slices.EqualFunc(row.Captions, c.want.Captions, slices.Equal) {
				t.Errorf("row %+v, want %+v", row, c.want)
			}
		})
	}
}

func TestClipLabels_ErrorsNameTheLine(t *testing.T) {
	header := `{"format":"nmn-labels","version":1,"captions_per_sample":2}` + "\n"
	v := vocabularyOf(t, "dog")
	for name, c := range map[string]struct{ content, says string }{
		"empty":           {"", "the file is empty"},
		"not JSON":        {"dog\n", "line 1: not the header"},
		"another format":  {`{"format":"nmn-noise","version":1}` + "\n", `format is "nmn-noise"`},
		"another version": {`{"format":"nmn-labels","version":2}` + "\n", "version 2"},
		"too many captions": {`{"format":"nmn-labels","version":1,"captions_per_sample":300}` + "\n",
			"captions_per_sample is 300"},
		"cut short":     {header + `{"clip":"a"`, "line 2: the file is cut short"},
		"line too long": {header + strings.Repeat("x", 1<<20+1) + "\n", "line 2: longer than 1048576 bytes"},
		"another clip": {header + `{"clip":"b"}` + "\n",
			`line 2: it has the clip "b", but clip 0 of the frames is "a"`},
		"no clip":             {header + `{"labels":["dog"]}` + "\n", `line 2: "clip" is missing`},
		"two ways":            {header + `{"clip":"a","captions":["dog"],"counts":{"dog":1}}` + "\n", "there may be one"},
		"labels and captions": {header + `{"clip":"a","labels":["dog"]}` + "\n", "labels without captions"},
		"three of two":        {header + `{"clip":"a","captions":["a","b","c"]}` + "\n", "3 captions, want at most 2"},
		"count of three":      {header + `{"clip":"a","counts":{"dog":3}}` + "\n", `count of "dog" is 3, want 1 to 2`},
		"truth unannounced":   {header + `{"clip":"a","truth":["dog"]}` + "\n", "truth needs"},
		"unknown field":       {header + `{"clip":"a","label":["dog"]}` + "\n", "unknown field"},
		"two on a line":       {header + `{"clip":"a"}{"clip":"a"}` + "\n", "something follows"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "labels.jsonl")
			write(t, path, []byte(c.content))
			labels, err := OpenClipLabels(path)
			if err == nil {
				defer labels.Close()
				err = labels.read(0, "a", v, &Row{})
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) ||
				!errors.Is(err, ErrAnnotations) {
				t.Errorf("error %v, want one of the annotations with %q and the file", err, c.says)
			}
		})
	}
	if err := WriteClipLabels(filepath.Join(t.TempDir(), "l"), ClipLabelsForm{},
		labelSequence(ClipLabel{Clip: "a", Captions: []string{"x"}})); err == nil {
		t.Error("captions are written to a file of labels")
	}
	labels := mustOpenLabels(t, writeLabels(t, ClipLabelsForm{}, ClipLabel{Clip: "a"}))
	if _, err := StreamClips("s", mustOpenClips(t, writeClips(t, 1, 1)), labels, v); err == nil ||
		!strings.Contains(err.Error(), "labels") || !strings.Contains(err.Error(), "frames of 2") {
		t.Errorf("labels of one clip, frames of two: %v", err)
	}
}

// TestLoader_LabelsOfAnotherOrderStopTheEpoch: a wrong file of labels is no bad sample.
func TestLoader_LabelsOfAnotherOrderStopTheEpoch(t *testing.T) {
	labels := writeLabels(t, ClipLabelsForm{}, ClipLabel{Clip: "in/video1.mp4"}, ClipLabel{Clip: "in/video0.mp4"})
	set, err := StreamClips("s", mustOpenClips(t, writeClips(t, 1, 1)), mustOpenLabels(t, labels),
		vocabularyOf(t, "dog"))
	expect.OK(t, err)
	config := streamConfig()
	config.MaxBadSamples = 10
	if _, err := readEpoch(t, mustLoader(t, set, config), 0, 0); !errors.Is(err, ErrAnnotations) {
		t.Errorf("error %v, want one of the annotations", err)
	}
}

func TestLineTable_EveryLine(t *testing.T) {
	for _, n := range []int{1, lineStride - 1, lineStride, lineStride + 1, 5*lineStride + 3} {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("x", i%7*40))
		}
		path := filepath.Join(t.TempDir(), "lines")
		write(t, path, b.Bytes())
		lines, err := openLines(path)
		expect.OK(t, err)
		defer lines.Close()
		var buffer []byte
		for i := n - 1; i >= 0; i-- {
			line, err := lines.read(i, &buffer)
			if want := fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%7*40)); err != nil || string(line) != want {
				t.Fatalf("line %d of %d is %q, %v", i, n, line, err)
			}
		}
		if _, err := lines.read(n, &buffer); err == nil {
			t.Errorf("line %d of %d can be read", n, n)
		}
		expect.OK(t, os.Truncate(path, 3))
		if _, err := lines.read(n-1, &buffer); err == nil || !strings.Contains(err.Error(), "changed since") {
			t.Errorf("a file that was cut: %v", err)
		}
	}
}

func FuzzParseClipLabel(f *testing.F) {
	f.Add([]byte(`{"clip":"a","captions":["a dog","the red dog"]}`), 20)
	f.Add([]byte(`{"clip":"a","counts":{"dog":3}}`), 5)
	f.Add([]byte(`{"clip":"a","labels":["dog"]}`), 0)
	v := vocabularyOf(f, "dog", "red")
	f.Fuzz(func(t *testing.T, line []byte, captionsPerSample int) {
		captionsPerSample = min(max(captionsPerSample, 0), MaxCaptions)
		label, err := parseClipLabel(line, ClipLabelsForm{CaptionsPerSample: captionsPerSample,
			Truth: captionsPerSample%2 == 0})
		if err != nil {
			return
		}
		var row Row
		label.fill(v, &row)
		if !slices.IsSorted(row.Labels) || len(slices.Compact(slices.Clone(row.Labels))) != len(row.Labels) ||
			len(row.Labels) > v.Len() {
			t.Fatalf("labels %v", row.Labels)
		}
		if captionsPerSample == 0 && len(row.Counts) > 0 || captionsPerSample > 0 && len(row.Counts) != len(row.Labels) {
			t.Fatalf("counts %v of labels %v", row.Counts, row.Labels)
		}
		for i, of := range row.Counts {
			if of.Captions < 1 || int(of.Captions) > captionsPerSample || of.Class != row.Labels[i] {
				t.Fatalf("counts %v of labels %v, %d captions", row.Counts, row.Labels, captionsPerSample)
			}
		}
	})
}
