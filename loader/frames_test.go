package loader

import (
	"context"
	"fmt"
	"nmn/loader/picture"
	"slices"
	"strings"
	"testing"
)

func TestFrames_EveryFrameIsABagWithTheLabelsOfItsVideo(t *testing.T) {
	source := raggedClips()
	videos := clipSet(t, source)
	frames, index, err := Frames(t.Context(), videos)
	check(t, err)
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
	check(t, err)
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
	check(t, err)
	for _, place := range [][2]int{{-1, 0}, {24, 0}, {3, 1}} {
		if err := frames.Source.Read(context.Background(), place[0], place[1], &picture.Picture{}); err == nil {
			t.Errorf("frame %d of bag %d can be read", place[1], place[0])
		}
	}
}
