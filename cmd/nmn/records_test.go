package main

import (
	"path/filepath"
	"strings"
	"testing"

	"nmn/run"
)

func TestTrain_WritesForTensorBoardOnRequest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	must(t, tiny("train", "--arm", "stage1", "--run-dir", dir, "--set", "run.tensorboard=true", "-q")...)
	files, err := filepath.Glob(filepath.Join(dir, run.TensorBoardFolder, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("event files %v, %v", files, err)
	}
	content := readBytes(t, files[0])
	for _, want := range []string{"train/loss", "against true labels/all classes", "surest mistakes/1"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the events lack %q", want)
		}
	}
}
