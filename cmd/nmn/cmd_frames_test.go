package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/loader/frames"
	"nmn/loader/shard"
)

// clipFolder writes clips that hardly compress, and skips the test without ffmpeg.
func clipFolder(t *testing.T, clips int) string {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("left out: no ffmpeg: ", err)
	}
	dir := t.TempDir()
	for i := range clips {
		writeNoise(t, filepath.Join(dir, fmt.Sprintf("%02d.y4m", i)), 96, 64, 4+i%3, uint64(i))
	}
	return dir
}

func writeNoise(t *testing.T, name string, width, height, n int, seed uint64) {
	t.Helper()
	b := fmt.Appendf(nil, "YUV4MPEG2 W%d H%d F10:1 Ip A1:1 C420jpeg\n", width, height)
	random := rand.New(rand.NewPCG(seed, 0))
	for range n {
		b = append(b, "FRAME\n"...)
		for range width * height {
			b = append(b, byte(random.Uint32()))
		}
		b = append(b, bytes.Repeat([]byte{128}, width*height/2)...)
	}
	write(t, name, b)
}

func TestFrames_Usage(t *testing.T) {
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"--output is missing": {dir},
		"give either":         {"--output", dir},
		"or --list":           {dir, "--list", "l.txt", "--output", dir},
		"Frames = 0":          {dir, "--output", dir, "--frames", "0"},
		"Quality = 101":       {dir, "--output", dir, "--quality", "101"},
		"--shard-size is 0":   {dir, "--output", dir, "--shard-size", "0"},
		"--workers is -1":     {dir, "--output", dir, "--workers", "-1"},
		"--check only uses":   {dir, "--output", dir, "--check"},
		"exclude each other":  {"--output", dir, "--check", "--rebuild-index"},
	} {
		wantUsage(t, call(t, append([]string{"frames"}, args...)...), want)
	}
	wantFailure(t, call(t, "frames", dir, "--output", dir), "there is no clip")
	writeNoise(t, filepath.Join(dir, "a.y4m"), 16, 16, 1, 1)
	wantFailure(t, call(t, "frames", dir, "--output", dir, "--ffmpeg", filepath.Join(dir, "none")), "apt install ffmpeg")
}

func TestFrames_MakesChecksAndGoesOn(t *testing.T) {
	clips, out := clipFolder(t, 3), filepath.Join(t.TempDir(), "out")
	write(t, filepath.Join(clips, "empty.mp4"), "")
	args := []string{"frames", clips, "--output", out, "--frames", "3", "--size", "48"}
	got := readJSON(t, must(t, append(args, "--json")...))
	if got["clips"] != 3. || got["frames"] != 9. || got["left_out"] != 1. {
		t.Errorf("%v", got)
	}
	if text := read(t, out, frames.ProblemsName); !strings.Contains(text,
		`"clip":"empty.mp4","kept":false,"cause":"the file is empty"`) {
		t.Errorf("problems: %s", text)
	}
	wantUsage(t, call(t, append(args, "--quality", "50")...), `"quality":50`)
	wantParts(t, must(t, args...), "3 clips, 3 of them already present; 0 frames")
	index := readBytes(t, out, shard.IndexName)
	write(t, filepath.Join(out, shard.IndexName), bytes.Replace(index, []byte(`"offset":512`),
		[]byte(`"offset":1024`), 1))
	wantFailure(t, call(t, "frames", "--check", "--output", out), "--rebuild-index")
	must(t, "frames", "--rebuild-index", "--output", out)
	if got := must(t, "frames", "--check", "--output", out); !strings.Contains(got, "3 clips with 9 frames") ||
		!bytes.Equal(readBytes(t, out, shard.IndexName), index) {
		t.Errorf("rebuilt: %s", got)
	}
}

func clipNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	for r, err := range shard.Records(dir) {
		expect.OK(t, err)
		names = append(names, r.Clip)
	}
	return names
}

// TestFrames_Killed kills the command without warning, goes on each time, and holds what it leaves to
// that of a run in one piece.
func TestFrames_Killed(t *testing.T) {
	skipShort(t, "kills and restarts processes")
	const kills, clips = 3, 6
	source := clipFolder(t, clips)
	args := func(out string) []string {
		return []string{"frames", source, "--output", out, "--frames", "4", "--shard-size", "0.06", "--workers", "2"}
	}
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	must(t, args(whole)...)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range kills {
		after := time.Duration(random.IntN(50)) * time.Millisecond
		killFrames(t, broken, i*clips/(kills+1), after, args(broken))
	}
	before := len(frameContents(t, broken))
	must(t, args(broken)...)
	want := frameContents(t, whole)
	if got := frameContents(t, broken); !slices.Equal(got, want) || len(want) != 4*clips {
		t.Errorf("%d frames, and they differ from the %d of a run in one piece", len(got), len(want))
	}
	must(t, "frames", "--check", "--output", broken)
	names, _ := filepath.Glob(filepath.Join(broken, ".*"))
	if len(names) > 0 {
		t.Errorf("files of killed processes are there: %q", names)
	}
	t.Logf("killed %d times; %d of %d frames were kept", kills, before, len(want))
}

// killFrames kills a process some time after the index has more than the given number of clips. Any moment will do.
func killFrames(t *testing.T, out string, clips int, after time.Duration, args []string) {
	t.Helper()
	cmd, _, _ := asCommand(args...)
	p := start(t, cmd)
	p.until("another clip", func() bool {
		index, _ := os.ReadFile(filepath.Join(out, shard.IndexName))
		return bytes.Count(index, []byte("\n")) > clips
	})
	time.Sleep(after)
	p.kill()
	t.Logf("killed with %d clips in the index", len(clipNames(t, out)))
}

// frameContents are clips and frames in their order; of a folder that is not begun, none.
func frameContents(t *testing.T, dir string) (all []string) {
	t.Helper()
	r, err := shard.Open(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	expect.OK(t, err)
	defer r.Close()
	for record, err := range r.Records() {
		expect.OK(t, err)
		for i, f := range record.Frames {
			b, err := r.ReadFrame(&record, i, nil)
			expect.OK(t, err)
			all = append(all, fmt.Sprintf("%s %d %v %x", record.Clip, f.Number, f.Time, b))
		}
	}
	return all
}
