package main

import (
	"path/filepath"
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
	wantParts(t, string(content), "train/loss", "against true labels/all classes", "surest mistakes/1")
}
