package inject

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/labels"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/loader/shard"
)

// streamOf is a set of clips whose labels are in a file; frames are their numbers of frames.
func streamOf(t *testing.T, form loader.ClipLabelsForm, words []string, frames []int,
	labels ...loader.ClipLabel) *loader.Set {
	t.Helper()
	dir := t.TempDir()
	w, err := shard.Create(dir, shard.Config{ShardBytes: 64 << 10})
	expect.OK(t, err)
	defer w.Close()
	for i, n := range frames {
		record := &shard.Record{Clip: labels[i].Clip, Width: 16, Height: 8, PictureWidth: 16, PictureHeight: 8,
			Decoded: n, Frames: make([]shard.Frame, n)}
		files := make([][]byte, n)
		for frame := range files {
			record.Frames[frame].Number = frame
			grey := uint8(20*i + 4*frame)
			pic := picture.Picture{Width: 16, Height: 8, Pix: slices.Repeat([]uint8{grey}, 3*16*8)}
			if files[frame], err = pic.EncodeJPEG(95); err != nil {
				t.Fatal(err)
			}
		}
		expect.OK(t, w.Add(record, files))
	}
	expect.OK(t, w.Finish())
	path := filepath.Join(dir, loader.LabelsName)
	sequence := iter.Seq2[loader.ClipLabel, error](func(yield func(loader.ClipLabel, error) bool) {
		for _, label := range labels {
			if !yield(label, nil) {
				return
			}
		}
	})
	expect.OK(t, loader.WriteClipLabels(path, form, sequence))
	clips := expect.Value(loader.OpenClips(dir))(t)
	t.Cleanup(func() { _ = clips.Close() })
	file := expect.Value(loader.OpenClipLabels(path))(t)
	t.Cleanup(func() { _ = file.Close() })
	return expect.Value(loader.StreamClips("stream", clips, file, vocabularyOf(t, words...)))(t)
}

// raggedStream is a stream of clips of different numbers of frames, whose captions name the bits of their numbers;
// bag 0 has no caption.
func raggedStream(t *testing.T) *loader.Set {
	t.Helper()
	words := []string{"red", "dog", "cat"}
	labels := make([]loader.ClipLabel, 8)
	for i := range labels {
		labels[i].Clip = fmt.Sprintf("in/video%d.mp4", i)
		labels[i].Captions = []string{}
		for bit, word := range words {
			if i>>bit&1 == 1 {
				labels[i].Captions = append(labels[i].Captions, "the "+word+" and the "+word, "a "+word+" !")
			}
		}
	}
	return streamOf(t, loader.ClipLabelsForm{CaptionsPerSample: 20}, words, []int{1, 3, 2, 1, 4, 1, 2, 5}, labels...)
}

// inMemory is a set with its labels in memory.
func inMemory(t *testing.T, s *loader.Set) *loader.Set {
	t.Helper()
	return expect.Value(loader.Hold(t.Context(), s))(t)
}

func censusOf(t *testing.T, s *loader.Set) *loader.Census {
	t.Helper()
	return expect.Value(s.Census(t.Context()))(t)
}

// sameBatches compares a set with rows to one in memory: their metadata, and two epochs.
func sameBatches(t *testing.T, streamed, held *loader.Set) {
	t.Helper()
	if got, want := censusOf(t, streamed), censusOf(t, held); !reflect.DeepEqual(got, want) {
		t.Errorf("census %+v, in memory %+v", got, want)
	}
	for epoch := range 2 {
		if got, want := batchesOf(t, streamed, epoch), batchesOf(t, held, epoch); !reflect.DeepEqual(got, want) {
			t.Errorf("epoch %d: batches %+v\nin memory %+v", epoch, got, want)
		}
	}
}

// batch is what a batch holds.
type batch struct {
	ids     []string
	index   []int
	offsets []int32
	labels  []float32
	pixels  []uint8
}

func batchesOf(t *testing.T, s *loader.Set, epoch int) (all []batch) {
	t.Helper()
	config := loader.DefaultConfig()
	config.BatchSize, config.Size, config.Fit = 3, 16, picture.FitLongest
	config.Block, config.Window = 2, 2
	l := expect.Value(loader.New(s, config))(t)
	e := expect.Value(l.Epoch(t.Context(), epoch, 0))(t)
	defer e.Close()
	for {
		b, err := e.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		expect.OK(t, err)
		all = append(all, batch{slices.Clone(b.IDs), slices.Clone(b.Index), slices.Clone(b.Offsets.Int32s()),
			slices.Clone(b.Labels.Float32s()), slices.Clone(b.Pixels.Uint8s())})
		b.Release()
	}
}

func TestWithReplacedCaptions_DrawsAsInMemory(t *testing.T) {
	set := raggedStream(t)
	held := inMemory(t, set)
	for _, plan := range []Plan{{Kind: Uniform, Share: .05}, {Kind: Uniform, Share: .15}, {Kind: Uniform, Share: 1},
		{Kind: Uneven, Share: .37}, {Kind: Pair, Share: .15}, {Kind: Shift, Share: .6}} {
		streamed := expect.Value(WithReplacedCaptions(t.Context(), set, plan.Kind, plan.Share, 7))(t)
		noisy := mustApply(t, mustDraw(t, held, plan.Kind, plan.Share, 7), held)
		if reflect.DeepEqual(censusOf(t, noisy).Digest, censusOf(t, held).Digest) {
			t.Fatalf("%s: no label has changed", plan.Kind)
		}
		sameBatches(t, streamed, noisy)
		sameStatistics(t, set, streamed, held, noisy)
	}
}

func TestWithFlippedLabels_DrawsAsInMemory(t *testing.T) {
	set := raggedStream(t)
	held := inMemory(t, set)
	rates := labels.Rates{Q01: []float64{.9, .1, .5}, Q10: []float64{.3}}
	streamed := expect.Value(WithFlippedLabels(set, rates, 3))(t)
	noise, err := FlipLabels(held, rates, 3)
	expect.OK(t, err)
	noisy := mustApply(t, noise, held)
	sameBatches(t, streamed, noisy)
	sameStatistics(t, set, streamed, held, noisy)
	if streamed.KnowsTruth() || set.LabelsAsTruth().LabelsAsTruth() == set {
		t.Error("the truth is not known before somebody declares it")
	}
	if streamed, err = WithFlippedLabels(set.LabelsAsTruth(), rates, 3); err != nil || !streamed.KnowsTruth() {
		t.Fatalf("the truth is known: %v", err)
	}
	if noise, err = FlipLabels(held, rates, 3); err != nil {
		t.Fatal(err)
	}
	noisy = mustApply(t, noise, held.LabelsAsTruth())
	if got := inMemory(t, streamed); !reflect.DeepEqual(got.Truth.Uint8s(), held.Labels.Uint8s()) ||
		!reflect.DeepEqual(got.Labels.Uint8s(), noisy.Labels.Uint8s()) {
		t.Errorf("truth %v, labels %v", got.Truth, got.Labels)
	}
}

func sameStatistics(t *testing.T, clean, noisy, heldClean, heldNoisy *loader.Set) {
	t.Helper()
	got := expect.Value(Measure(t.Context(), clean, noisy))(t)
	want := expect.Value(Measure(t.Context(), heldClean, heldNoisy))(t)
	if fmt.Sprint(got) != fmt.Sprint(want) { // rates that are not defined are NaN
		t.Errorf("statistics %v\nin memory %v", got, want)
	}
}

func TestWithReplacedCaptions_NeedsCaptions(t *testing.T) {
	set := streamOf(t, loader.ClipLabelsForm{CaptionsPerSample: 5}, []string{"dog"}, []int{1, 1},
		loader.ClipLabel{Clip: "in/video0.mp4", Counts: map[string]int{"dog": 2}},
		loader.ClipLabel{Clip: "in/video1.mp4"})
	if _, err := WithReplacedCaptions(t.Context(), set, Uniform, .2, 1); err == nil ||
		!strings.Contains(err.Error(), "sample 0 (in/video0.mp4) do not come from captions") {
		t.Errorf("error %v", err)
	}
}

func TestStatistics_OfAStreamWithTruth(t *testing.T) {
	set := streamOf(t, loader.ClipLabelsForm{Truth: true}, []string{"dog", "cat"}, []int{1, 2},
		loader.ClipLabel{Clip: "in/video0.mp4", Labels: []string{"dog"}},
		loader.ClipLabel{Clip: "in/video1.mp4", Truth: []string{"cat"}})
	s, err := Measure(t.Context(), set, set)
	if err != nil || s.Reference != "truth" || s.Classes[0].Bags != [2][2]int{{1, 0}, {1, 0}} ||
		s.Classes[1].Bags != [2][2]int{{1, 1}, {0, 0}} {
		t.Errorf("statistics %+v, %v", s, err)
	}
}

func TestFlipLabels_NeedsLabelsInMemory(t *testing.T) {
	if _, err := FlipLabels(raggedStream(t), uniformRates(.1, .1), 1); err == nil {
		t.Error("flips are listed for a set whose labels are not in memory")
	}
}

// Captions that are given away are the original ones, never replaced ones: a set whose captions were replaced gives
// its own captions all the same, and noise that is drawn again for it is the noise drawn once.
func TestWithReplacedCaptions_GivesOriginalCaptions(t *testing.T) {
	set := raggedStream(t)
	noisy := expect.Value(WithReplacedCaptions(t.Context(), set, Uniform, .1, 7))(t)
	twice := expect.Value(WithReplacedCaptions(t.Context(), noisy, Uniform, .1, 7))(t)
	changed := false
	for bag := range set.Len() {
		var clean, once, again loader.Row
		for s, row := range map[*loader.Set]*loader.Row{set: &clean, noisy: &once, twice: &again} {
			expect.OK(t, s.Row(t.Context(), bag, row))
		}
		if !slices.EqualFunc(once.Captions, clean.Captions, func(a, b []int32) bool { return slices.Equal(a, b) }) {
			t.Errorf("bag %d gives the captions %v, want its own, %v", bag, once.Captions, clean.Captions)
		}
		if !slices.Equal(again.Labels, once.Labels) {
			t.Errorf("bag %d: labels %v of noise drawn twice, %v of noise drawn once", bag, again.Labels, once.Labels)
		}
		changed = changed || !slices.Equal(once.Labels, clean.Labels)
	}
	if !changed {
		t.Error("no label has changed")
	}
}
