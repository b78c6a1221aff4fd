package captioner

import (
	"slices"
	"testing"

	"nmn/internal/expect"
)

// Clips go through the net in batches, each with its own frames. Captions, identifiers and probabilities
// equal the results for single clips.
func TestGenerate_CaptionsOfBatchesAreThoseOfEachClip(t *testing.T) {
	r := newRig()
	r.config.Epochs = 10
	trainer, data := r.trainer(t), newReel(t)
	run(t, trainer)
	net := trainer.Net
	for _, width := range []int{1, 4} {
		o := DefaultGeneration()
		o.Batch, o.Search.MaxLength, o.Search.Width = 3, 6, width // 10 clips: the last batch has one
		var progress []int
		got, err := Generate(t.Context(), net, data.words, data, o, func(done int) { progress = append(progress, done) })
		expect.OK(t, err)
		if len(got) != data.Clips() || !slices.Equal(progress, []int{3, 6, 9, 10}) {
			t.Fatalf("width %d: %d captions, progress %v", width, len(got), progress)
		}
		for clip, g := range got {
			features := make([]float32, data.Frames()*data.Width())
			expect.OK(t, data.Features(clip, features))
			alone, err := net.Beam([][]float32{features[:data.FrameCount(clip)*data.Width()]}, o.Search)
			expect.OK(t, err)
			if want := (Generated{data.ID(clip), data.words.Caption(alone[0].Words), alone[0].LogProb}); g != want {
				t.Errorf("width %d: clip %d: %+v, want %+v", width, clip, g, want)
			}
		}
	}
}

func TestGenerate_RefusesAnotherVocabulary(t *testing.T) {
	trainer, data := newRig().trainer(t), newReel(t)
	words, err := NewWords([]string{"a", "dog"}, nil)
	expect.OK(t, err)
	expect.Refusal(t, expect.ErrorOf(Generate(t.Context(), trainer.Net, words, data, DefaultGeneration(), nil)), "",
		ErrOtherWords)
}

// A net whose likeliest word is the unknown one says the second likeliest.
func TestDefaultGeneration_NeverSaysUnknown(t *testing.T) {
	trainer, data := newRig().trainer(t), newReel(t)
	for _, p := range trainer.Net.Params() {
		if p.Name == "out.b" {
			bias := make([]float32, p.FileLen())
			bias[Unknown], bias[firstWord] = 20, 10
			expect.OK(t, trainer.Net.SetValues(p, bias))
		}
	}
	o := DefaultGeneration()
	o.Search.MaxLength = 2
	got, err := Generate(t.Context(), trainer.Net, data.words, data, o, nil)
	expect.OK(t, err)
	if got[0].Caption != "a a" {
		t.Errorf("%q, want the second likeliest word twice", got[0].Caption)
	}
}

// Every caption is held against the references of its own clip.
func TestScore_ComparesWithTheClipsOwnReferences(t *testing.T) {
	words, _ := buildWords(t, WordOptions{}, "a dog")
	s, err := Join(memoryClips("xy"), captionsOf("x:a dog runs home", "y:two cats sleep now"), words, JoinOptions{})
	expect.OK(t, err)
	result, err := Score(t.Context(), s, []Generated{{ID: "x", Caption: "a dog runs home"},
		{ID: "y", Caption: "two cats sleep now"}}, nil)
	expect.OK(t, err)
	for clip, scores := range result.Captions {
		if !(scores.BLEU[3] > .99) || !(scores.METEOR > .99) {
			t.Errorf("clip %d says its reference: %+v", clip, scores)
		}
	}
}
