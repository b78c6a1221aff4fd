//go:build unix

package frames

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/internal/expect"
)

func TestChoose_CentresOfEqualSpans(t *testing.T) {
	for _, c := range []struct {
		n, m int
		want []int
	}{
		{0, 5, []int{}}, {1, 5, []int{0}}, {5, 5, []int{0, 1, 2, 3, 4}}, {4, 5, []int{0, 1, 2, 3}},
		{10, 1, []int{5}}, {10, 2, []int{2, 7}}, {10, 3, []int{1, 5, 8}}, {11, 2, []int{2, 8}},
		{100, 4, []int{12, 37, 62, 87}},
		{1 << 30, 2, []int{1 << 28, 3 << 28}},
	} {
		if got := choose(c.n, c.m); !slices.Equal(got, c.want) {
			t.Errorf("%d of %d: %v, want %v", c.m, c.n, got, c.want)
		}
	}
	for n := range 200 {
		for m := 1; m < 40; m++ {
			got := choose(n, m)
			for i, f := range got {
				if f < 0 || f >= n || i > 0 && f <= got[i-1] || len(got) != min(n, m) {
					t.Fatalf("%d of %d: %v", m, n, got)
				}
			}
		}
	}
}

func TestFind_VersionAndCure(t *testing.T) {
	ctx := t.Context()
	for mode, want := range map[string]string{"honest": "5.1.9-0+deb12u1",
		"is from the midst of development": "N-118350-g1234567"} {
		f := fake(t, mode)
		if tool, err := Find(ctx, f.Path); err != nil || tool.Version != want {
			t.Errorf("%s: %+v, %v", mode, tool, err)
		}
	}
	for mode, want := range map[string]string{"is old": "4.4.2 is too old", "is another program": "does not answer",
		"fails": "without a message"} {
		_, err := Find(ctx, fake(t, mode).Path)
		if !errors.Is(err, ErrTool) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "apt install ffmpeg") {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if _, err := Find(ctx, filepath.Join(t.TempDir(), "none")); !errors.Is(err, ErrTool) ||
		!strings.Contains(err.Error(), "`frames.ffmpeg`") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// some is a file for clips that a fake reads.
func some(t *testing.T) Source {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clip.mp4")
	expect.OK(t, os.WriteFile(name, []byte("of no importance"), 0o644))
	return Source{Name: "clip.mp4", Path: name}
}

func config(frames int) Config {
	c := DefaultConfig()
	c.Frames = frames
	return c
}

// The brightness of the fake's frames is their number.
func fakeNumber(t *testing.T, file []byte) int {
	t.Helper()
	picture, err := jpeg.Decode(bytes.NewReader(file))
	expect.OK(t, err)
	return (int(picture.(*image.YCbCr).Y[0]) + 5) / 10
}

func TestExtract_CountedFramesDecide(t *testing.T) {
	for mode, n := range map[string]int{"honest": fakePackets, "counts wrong": fakePackets - 3,
		"complains and goes on": fakePackets} {
		clip, err := fake(t, mode).Extract(t.Context(), some(t), config(4))
		expect.OK(t, err)
		want := choose(n, 4)
		if clip.Record.Decoded != n || len(clip.Pictures) != len(want) || clip.Record.FrameRate != 25 ||
			clip.Record.Width != fakeWidth {
			t.Errorf("%s: %+v with %d pictures", mode, clip.Record, len(clip.Pictures))
		}
		for i, f := range clip.Record.Frames {
			if f.Number != want[i] || fakeNumber(t, clip.Pictures[i]) != want[i] ||
				float64(f.Time) != float64(40000*want[i])/1e6 {
				t.Errorf("%s, picture %d: %+v, shows frame %d, want %d", mode, i, f, fakeNumber(t, clip.Pictures[i]), want[i])
			}
		}
		if (clip.Complaint != "") != (mode == "complains and goes on") || strings.Contains(clip.Complaint, "0x") {
			t.Errorf("%s: complaint %q", mode, clip.Complaint)
		}
	}
}

// Whatever ffmpeg does, the outcome is an error about the clip that describes what happened.
func TestExtract_FFmpegMisbehaves(t *testing.T) {
	for mode, want := range map[string]string{
		"sleeps":                       "`frames.clip_timeout`",
		"crashes":                      "without a message (signal: killed)",
		"fails":                        "moov atom not found; Invalid data found",
		"talks rubbish":                "line 1",
		"lists without end":            "`frames.clip_timeout`",
		"a line without end":           "more than 4096 bytes",
		"complains without end":        "`frames.clip_timeout`",
		"pictures without end":         "more than the 4 frames",
		"pictures are cut":             "cut short",
		"pictures are huge":            "16384×8 pixels",
		"a picture is missing":         "3 of 4 frames",
		"counts another way each time": "another number the next time",
		"decodes nothing":              "no frame of it can be decoded",
		"has no packets":               "no frames",
	} {
		t.Run(mode, func(t *testing.T) {
			c := config(4)
			c.MaxPixels = 1000
			if strings.Contains(want, "timeout") {
				c.Timeout = 300 * time.Millisecond
			}
			_, err := fake(t, mode).Extract(t.Context(), some(t), c)
			if !errors.Is(err, ErrClip) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "0x") {
				t.Errorf("error %v, want one about the clip with %q", err, want)
			}
		})
	}
}

// Processes that ffmpeg has started are killed with it, even if ffmpeg itself has ended earlier.
func TestExtract_KillsTheWholeGroup(t *testing.T) {
	pids := t.TempDir()
	t.Setenv("NMN_TEST_PIDS", pids)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	f, s := fake(t, "has a child"), some(t)
	go func() {
		_, err := f.Extract(ctx, s, config(4))
		ended <- err
	}()
	var pid int
	for pid == 0 {
		names, err := os.ReadDir(pids)
		expect.OK(t, err)
		for _, n := range names {
			pid, err = strconv.Atoi(n.Name())
			expect.OK(t, err)
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || errors.Is(err, ErrClip) {
		t.Errorf("error %v, want that of the context alone", err)
	}
	for alive(pid) {
		time.Sleep(time.Millisecond) // until the test's own deadline
	}
}

// alive reports whether a process runs; one that is dead and not yet waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestExtract_OddFiles(t *testing.T) {
	dir := t.TempDir()
	f := fake(t, "honest")
	empty := filepath.Join(dir, "empty.mp4")
	expect.OK(t, os.WriteFile(empty, nil, 0o644))
	for path, want := range map[string]string{empty: "empty", dir: "not a file",
		filepath.Join(dir, "none.mp4"): "no such file"} {
		if _, err := f.Extract(t.Context(), Source{Name: "a", Path: path}, config(4)); !errors.Is(err, ErrClip) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	c := config(4)
	c.MaxPixels = 16*8 - 1
	if _, err := f.Extract(t.Context(), some(t), c); !errors.Is(err, ErrClip) ||
		!strings.Contains(err.Error(), "`frames.max_pixels`") {
		t.Errorf("too many pixels: %v", err)
	}
}

// Options that keep a clip from leading to other files, which only a real ffmpeg would follow.
func TestExtraction_OnlyContainersInFiles(t *testing.T) {
	args := (&extraction{input: "file:/a.mp4"}).arguments()
	value := func(option string) string { return args[slices.Index(args, option)+1] }
	if value("-protocol_whitelist") != "file" || value("-i") != "file:/a.mp4" || slices.Index(args, "-i") != len(args)-2 {
		t.Errorf("%q", args)
	}
	formats := strings.Split(value("-format_whitelist"), ",")
	for _, list := range []string{"dash", "hls", "concat", "image2", "sdp", "lavfi", "avisynth", "imf"} {
		if slices.Contains(formats, list) {
			t.Errorf("%s is read, which names other files", list)
		}
	}
	if !slices.Contains(formats, "mov") || !slices.Contains(formats, "matroska") {
		t.Errorf("%q", formats)
	}
}

func TestConfig_Bounds(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"Frames": func(c *Config) { c.Frames = 0 }, "Size": func(c *Config) { c.Size = -1 },
		"Quality":   func(c *Config) { c.Quality = 101 },
		"MaxPixels": func(c *Config) { c.MaxPixels = 0 }, "Threads": func(c *Config) { c.Threads = 0 },
		"Timeout": func(c *Config) { c.Timeout = 0 },
	} {
		c := DefaultConfig()
		expect.OK(t, c.Validate())
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
