package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"nmn/loader/dataset"
)

// tellVideos returns the two commands to run after an error about videos without frames, with the arguments of the
// user.
func tellVideos(err error, args []string) string {
	var videos *dataset.VideoError
	if !errors.As(err, &videos) {
		return ""
	}
	take := []string{"nmn", "frames", videos.Clips, "--output", videos.Frames}
	return "\n  " + shellLine(take) + "\n  " + shellLine(append([]string{"nmn"}, withFrames(videos, args)...))
}

// withFrames returns the arguments of a command with the folder of frames instead of the folder of videos, or
// added to the arguments if they name a table.
func withFrames(v *dataset.VideoError, args []string) []string {
	replaced, found := slices.Clone(args), false
	for i, arg := range args {
		flag, value, joined := strings.Cut(arg, "=")
		if !joined {
			flag, value = "", arg
			if i > 0 {
				flag = args[i-1]
			}
		}
		if v.Table && flag == "--images" || !v.Table && filepath.Clean(value) == filepath.Clean(v.Clips) {
			replaced[i], found = strings.TrimSuffix(arg, value)+v.Frames, true
		}
	}
	if !found {
		replaced = append(replaced, "--images", v.Frames)
	}
	return replaced
}

// shellLine quotes a command for a shell.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = argument(word)
	}
	return strings.Join(quoted, " ")
}
