package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/loader/published"
)

func TestDoctor_PublishedFoldersAreLookedAt(t *testing.T) {
	coco, msrvtt := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(coco, "train2014"), filepath.Join(coco, "val2014"),
		filepath.Join(msrvtt, "TrainValVideo")} {
		check(t, os.Mkdir(path, 0o777))
	}
	file := filepath.Join(t.TempDir(), "found.json")
	c := call(t, "doctor", "--coco", coco, "--msrvtt", msrvtt, "--output", file)
	if c.code != exitFailure || !strings.Contains(c.out, "annotations/captions_train2014.json is missing") ||
		!strings.Contains(c.out, "train_val_videodatainfo.json is missing") || !strings.Contains(c.err, "3 problems "+
		"prevent") {
		t.Errorf("exit code %d\n%s\n%s", c.code, c.out, c.err)
	}
	content := readBytes(t, file)
	var found []published.Folder
	if err := json.Unmarshal(content, &found); err != nil || len(found) != 2 || found[1].Set != "msrvtt" {
		t.Errorf("%v: %s", err, content)
	}
	c = call(t, "doctor", "--coco", coco, "--noise", "0.4")
	wantUsage(t, c, "--noise")
}
