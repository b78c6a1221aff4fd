package dataset

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"nmn/loader/scenes"
	"nmn/text"
	_ "nmn/text/english"
)

func TestVocabularyOf_CountsTheFirstCaptionsOfEachPicture(t *testing.T) {
	file, err := scenes.Write(t.Context(), scenes.Config{Split: "train", N: 4, Seed: 1}, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	total := func(o CaptionWords, files ...string) (n int) {
		v, err := VocabularyOf(t.Context(), log, files, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range v.Words() {
			n += w.Count
		}
		return n
	}
	once, all := total(CaptionWords{CaptionsPerSample: 1, PaperSize: true}, file), total(CaptionWords{PaperCaptions: true},
		file)
	if once >= all || all != total(CaptionWords{CaptionsPerSample: 5}, file) {
		t.Errorf("%d words in one caption of each, %d in all", once, all)
	}
	if twice := total(CaptionWords{}, file, file); twice != 2*all {
		t.Errorf("%d words in a file that is named twice, want %d", twice, 2*all)
	}
	if v, err := VocabularyOf(t.Context(), log, []string{file},
		CaptionWords{VocabularyOptions: text.VocabularyOptions{Size: 3}}); err != nil || v.Len() != 3 {
		t.Errorf("%v, want 3 words (%v)", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := VocabularyOf(ctx, log, []string{file}, CaptionWords{}); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}
