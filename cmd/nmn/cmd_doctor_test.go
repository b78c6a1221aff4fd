package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/scenes"
)

// findingKinds are the weights of the findings of a report by their kind, the worst first.
func findingKinds(t *testing.T, report map[string]any) map[string]string {
	t.Helper()
	kinds := map[string]string{}
	for _, f := range report["findings"].([]any) {
		f := f.(map[string]any)
		if _, ok := kinds[f["kind"].(string)]; !ok {
			kinds[f["kind"].(string)] = f["weight"].(string)
		}
	}
	return kinds
}

func TestDoctor_FindsWhatStopsARun(t *testing.T) {
	t.Parallel()
	captions, images, vocabulary := exported(t, "40")
	picture := func(i int) string { return filepath.Join(images, scenes.FileName("train", i)) }
	broken, err := os.ReadFile(picture(3))
	expect.OK(t, err)
	write(t, picture(3), broken[:200])
	expect.OK(t, os.Remove(picture(5)))
	file := filepath.Join(t.TempDir(), "report.json")
	data := []string{"--preset", "scenes", "--set", "data.captions=" + captions, "--images", images, "--vocab", vocabulary,
		"--set", "net.width=0.5", "--epochs", "1", "--device", "cpu"}
	c := call(t, append([]string{"doctor", "--output", file}, data...)...)
	if c.code != exitFailure || !strings.Contains(c.out, "error: ") || !strings.Contains(c.err, "2 problems would") {
		t.Errorf("exit code %d, %s\n%s", c.code, c.out, c.err)
	}
	written := readBytes(t, file)
	r := readJSON(t, string(written))
	if kinds := findingKinds(t, r); kinds["broken-pictures"] != "error" || kinds["missing-files"] != "error" {
		t.Errorf("findings %v", kinds)
	}
	// What the cures say lets the run go through.
	allowed := append([]string{"--max-bad-samples", "1"}, data...)
	r = readJSON(t, must(t, append([]string{"doctor", "--json"}, allowed...)...))
	if kinds := findingKinds(t, r); kinds["broken-pictures"] != "warning" || kinds["missing-files"] != "warning" {
		t.Errorf("findings %v", kinds)
	}
}

func TestDoctor_ClipsOfMSRVTT(t *testing.T) {
	t.Parallel()
	data := []string{"doctor", "--preset", "scenes", writeMSRVTT(t, 12, 20), "--set", "data.frames_dir=" + writeFrames(t,
		12, 3, 8), "--json"}
	c := call(t, data...)
	if kinds := findingKinds(t, readJSON(t, c.out)); c.code != exitFailure || kinds["missing-files"] != "error" {
		t.Errorf("exit code %d, findings %v", c.code, kinds)
	}
	r := readJSON(t, must(t, append(data, "--max-bad-samples", "2")...))
	train := r["splits"].([]any)[0].(map[string]any)
	pictures := train["pictures"].(map[string]any)
	// The frames of a clip are the same picture, which is no copy of another bag's.
	if train["samples"] != 7.0 || train["longest_sample"] != 2.0 || pictures["decoded"] != train["frames"] ||
		pictures["duplicates"] != 0.0 {
		t.Errorf("training split %v", train)
	}
}

func TestDoctor_Usage(t *testing.T) {
	wantUsage(t, call(t, "doctor", "--sample", "-1"), "--sample is -1")
	wantUsage(t, call(t, "doctor", "scenes", "surplus"), "scenes and surplus: want one DATA")
}

func TestDoctor_InterruptWritesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "report.json")
	c := callIn(t, ctx, tiny("doctor", "--output", file)...)
	if _, err := os.Stat(file); c.code != exitInterrupted || c.out != "" || err == nil {
		t.Errorf("exit code %d, %q, %v", c.code, c.out, err)
	}
}
