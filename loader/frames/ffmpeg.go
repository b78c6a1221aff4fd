package frames

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// FFmpeg is an installed ffmpeg.
type FFmpeg struct {
	Path    string
	Version string // as it calls itself: 5.1.9
}

// The least version: the needed features came with libavformat 59.27, in ffmpeg 5.1.
const (
	leastVersion = "5.1"
	leastMajor   = 59
	leastMinor   = 27
)

// toGet explains how to get ffmpeg.
const toGet = "get ffmpeg " + leastVersion + " or newer (Debian and Ubuntu: apt install ffmpeg, " +
	"Fedora: dnf install ffmpeg-free, macOS: brew install ffmpeg, others: https://ffmpeg.org/download.html), " +
	"or name it by `frames.ffmpeg`"

// Find looks for ffmpeg: the program of that name, or "" for the one on the PATH.
func Find(ctx context.Context, name string) (*FFmpeg, error) {
	name = cmp.Or(name, "ffmpeg")
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("frames: %w: program %q not found: %s", ErrTool, name, toGet)
	}
	f := &FFmpeg{Path: path}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var text []byte
	_, err = f.run(ctx, 0, []string{"-version"}, func(r io.Reader) error {
		text, err = io.ReadAll(io.LimitReader(r, 1<<16))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("frames: %w: %s -version: %w; %s", ErrTool, path, err, toGet)
	}
	f.Version, err = parseVersion(string(text))
	if err != nil {
		return nil, fmt.Errorf("frames: %w: %s: %w; %s", ErrTool, path, err, toGet)
	}
	return f, nil
}

var libavformat = regexp.MustCompile(`(?m)^libavformat\s+(\d{1,5})\.\s*(\d{1,5})\.`)

// parseVersion returns the name of the version, and compares the version of libavformat with the least one:
// names of development builds carry no version.
func parseVersion(text string) (string, error) {
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(first)
	library := libavformat.FindStringSubmatch(text)
	if len(words) < 3 || words[0] != "ffmpeg" || words[1] != "version" || library == nil {
		return "", errors.New("it does not answer -version as ffmpeg does")
	}
	major, _ := strconv.Atoi(library[1])
	minor, _ := strconv.Atoi(library[2])
	if major < leastMajor || major == leastMajor && minor < leastMinor {
		return "", fmt.Errorf("version %s is too old", words[2])
	}
	return words[2], nil
}
