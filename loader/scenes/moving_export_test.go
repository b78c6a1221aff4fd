package scenes

import (
	"path/filepath"
	"reflect"
	"testing"

	"nmn/loader"
	"nmn/loader/picture"
	"nmn/loader/shard"
)

// TestWriteMoving_ReadsBackAsTheSet holds a folder that was written to the set that it was made of.
func TestWriteMoving_ReadsBackAsTheSet(t *testing.T) {
	config := MovingConfig{Seed: 3, Split: "val", N: 70, Frames: 4}
	want, err := MakeMoving(config)
	check(t, err)
	for _, form := range []shard.Form{shard.Shards, shard.Folder} {
		t.Run(string(form), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "val")
			if err := WriteMoving(t.Context(), config, shard.Config{Form: form, ShardBytes: 64 << 10}, dir); err != nil {
				t.Fatal(err)
			}
			clips, err := loader.OpenClips(dir)
			check(t, err)
			defer clips.Close()
			labels, err := loader.OpenClipLabels(filepath.Join(dir, loader.LabelsName))
			check(t, err)
			defer labels.Close()
			set, err := loader.StreamClips(want.Name, clips, labels, want.Vocabulary)
			check(t, err)
			got, err := loader.Hold(t.Context(), set)
			check(t, err)
			for _, of := range []struct {
				what      string
				got, want any
			}{
				{"names", got.IDs, want.IDs}, {"captions", got.Captions, want.Captions},
				{"captions of a bag", got.CaptionsPerSample, want.CaptionsPerSample},
				{"labels", got.Labels.Uint8s(), want.Labels.Uint8s()},
				{"counts", got.Counts.Uint8s(), want.Counts.Uint8s()},
				{"truth", got.Truth.Uint8s(), want.Truth.Uint8s()},
			} {
				if !reflect.DeepEqual(of.got, of.want) {
					t.Errorf("%s differ: %v, want %v", of.what, of.got, of.want)
				}
			}
			if difference := pictureDifference(t, got, want); difference > 8 {
				t.Errorf("pixels differ by %.2f of 255 on average", difference)
			}
		})
	}
}

// pictureDifference is the mean absolute difference of all pixels of two sets.
func pictureDifference(t *testing.T, a, b *loader.Set) float64 {
	t.Helper()
	sum, n := 0, 0
	var p, q picture.Picture
	for bag := range a.Len() {
		for frame := range a.Source.Frames(bag) {
			check(t, a.Source.Read(t.Context(), bag, frame, &p))
			check(t, b.Source.Read(t.Context(), bag, frame, &q))
			for i, v := range p.Pix {
				sum, n = sum+max(int(v)-int(q.Pix[i]), int(q.Pix[i])-int(v)), n+1
			}
		}
	}
	return float64(sum) / float64(n)
}
