//go:build unix

package frames

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// TestExtract_RealClips holds the frames that are taken of real clips to the MD5 sums of all their
// decoded frames: ffmpeg, given the filter that Extract gives it, lets through just the frames that
// choose lists.
func TestExtract_RealClips(t *testing.T) {
	data := os.Getenv("NMN_DATA")
	if data == "" {
		t.Skip("left out: NMN_DATA does not name a folder of data sets")
	}
	f := installed(t)
	folder := filepath.Join(data, "videos")
	sums, err := filepath.Glob(filepath.Join(folder, "framemd5", "*.framemd5"))
	expect.OK(t, err)
	if len(sums) == 0 {
		t.Skip("left out: no ", folder, "/framemd5")
	}
	counts := statedCounts(t, folder)
	for _, file := range sums {
		name := strings.TrimSuffix(filepath.Base(file), ".framemd5")
		clip := filepath.Join(folder, name)
		if _, err := os.Stat(clip); err != nil {
			clip = filepath.Join(folder, "derived", name)
		}
		all := frameSums(t, file)
		if declared, is := counts[name]; is && declared != len(all) {
			t.Errorf("%s: %d sums and a count of %d", name, len(all), declared)
		}
		sameSums(t, f, clip, all, DefaultConfig().Frames)
	}
}

func sameSums(t *testing.T, f *FFmpeg, clip string, all []string, m int) {
	t.Helper()
	name := filepath.Base(clip)
	got, err := f.Extract(t.Context(), Source{Name: name, Path: clip}, config(m))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	chosen := choose(len(all), m)
	if got.Record.Decoded != len(all) || len(got.Pictures) != len(chosen) {
		t.Errorf("%s: %d pictures of %d frames, want %d of %d", name, len(got.Pictures), got.Record.Decoded,
			len(chosen), len(all))
		return
	}
	let := passed(t, f, clip, chosen)
	for i, n := range chosen {
		if got.Record.Frames[i].Number != n || i >= len(let) || let[i] != all[n] {
			t.Errorf("%s: picture %d is of frame %d, want %d; sums %v of %d",
				name, i, got.Record.Frames[i].Number, n, i < len(let) && let[i] == all[n], len(let))
			return
		}
	}
	t.Logf("%-42s %5d frames, %2d taken, all MD5 sums as they are to be", name, len(all), len(chosen))
}

// passed are the sums of the frames that the filter lets through.
func passed(t *testing.T, f *FFmpeg, clip string, chosen []int) []string {
	t.Helper()
	out, err := exec.Command(f.Path, "-nostdin", "-v", "error", "-reinit_filter", "0", "-i", clip, "-map", video,
		"-fps_mode", "passthrough",
		"-vf", selectFilter(chosen), "-f", "framemd5", "pipe:1").Output()
	expect.OK(t, err)
	return sumsOf(out)
}

func frameSums(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	expect.OK(t, err)
	return sumsOf(text)
}

// sumsOf takes the last column.
func sumsOf(text []byte) (sums []string) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if at := strings.LastIndexByte(line, ','); at >= 0 && line[0] != '#' {
			sums = append(sums, strings.TrimSpace(line[at+1:]))
		}
	}
	return sums
}

// statedCounts are the numbers of frames in clips.json.
func statedCounts(t *testing.T, folder string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "clips.json"))
	expect.OK(t, err)
	var all []struct {
		File   string `json:"file"`
		Frames int    `json:"frames"`
	}
	expect.OK(t, json.Unmarshal(text, &all))
	counts := map[string]int{}
	for _, c := range all {
		counts[c.File] = c.Frames
	}
	return counts
}
