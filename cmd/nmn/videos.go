package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"nmn/loader/dataset"
)

// tellVideos writes, after an error about videos whose frames were not taken, the two commands that go on: with the
// arguments that were typed.
func tellVideos(err error, args []string) string {
	var videos *dataset.VideoError
	if !errors.As(err, &videos) {
		return ""
	}
	take := []string{"nmn", "frames", videos.Clips, "--output", videos.Frames}
	return "\n  " + shellLine(take) + "\n  " + shellLine(append([]string{"nmn"}, withFrames(videos, args)...))
}

// withFrames are the arguments of a command with a folder of frames in the place of that of the videos, or added to
// those that name a table.
func withFrames(v *dataset.VideoError, args []string) []string {
	same := func(path string) bool { return filepath.Clean(path) == filepath.Clean(v.Clips) }
	replaced := slices.Clone(args)
	found := false
	for i, arg := range replaced {
		flag, value, joined := strings.Cut(arg, "=")
		images := arg == "--images" || i > 0 && replaced[i-1] == "--images" || flag == "--images"
		switch {
		case v.Table && !images:
		case v.Table && joined:
			replaced[i], found = flag+"="+v.Frames, true
		case v.Table && arg != "--images":
			replaced[i], found = v.Frames, true
		case v.Table:
		case joined && same(value):
			replaced[i], found = flag+"="+v.Frames, true
		case same(arg):
			replaced[i], found = v.Frames, true
		}
	}
	if !found {
		replaced = append(replaced, "--images", v.Frames)
	}
	return replaced
}

// shellLine is a command as a shell reads it.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = argument(word)
	}
	return strings.Join(quoted, " ")
}
