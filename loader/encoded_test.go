package loader

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nmn/loader/picture"
	"nmn/loader/shard"
)

func TestReadEncoded_GivesTheBytesOfAFile(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{"a.jpg": greyJPEG(t, 8, 8, 10), "b.jpg": greyJPEG(t, 8, 8, 200),
		"c.jpg": []byte("no picture")}
	for name, content := range files {
		check(t, os.WriteFile(filepath.Join(dir, name), content, 0o666))
	}
	source, err := NewFileSource(dir, []string{"a.jpg", "b.jpg", "c.jpg", "missing.jpg"})
	check(t, err)
	chosen := placedSource{source, chosenBags{2, 1}}
	for _, c := range []struct {
		source Source
		bag    int
		name   string
		format string
	}{{source, 0, "a.jpg", "JPEG"}, {chosen, 0, "c.jpg", ""}, {chosen, 1, "b.jpg", "JPEG"}} {
		got, err := ReadEncoded(t.Context(), c.source, c.bag, 0, nil)
		if err != nil || !bytes.Equal(got, files[c.name]) || picture.Format(got) != c.format {
			t.Errorf("bag %d of %T: %d bytes, format %q, %v; want those of %s",
				c.bag, c.source, len(got), picture.Format(got), err, c.name)
		}
	}
	if _, err := ReadEncoded(t.Context(), source, 3, 0, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := ReadEncoded(t.Context(), chosen, 2, 0, nil); err == nil {
		t.Error("a bag beyond the subset was read")
	}
}

func TestReadEncoded_FramesOfClips(t *testing.T) {
	set := videoSet(t, writeClips(t, shard.Shards, raggedFrames...), "video2", "video0")
	got, err := ReadEncoded(t.Context(), set.Source, 1, 2, nil)
	if err != nil || !bytes.Equal(got, greyJPEG(t, 16, 8, greyOf(0, 2))) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := ReadEncoded(t.Context(), set.Source, 1, 3, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a frame beyond the clip: %v", err)
	}
}
