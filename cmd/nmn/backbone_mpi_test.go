//go:build linux && cgo && (mpi || mpich)

package main

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"

	"nmn/run"
)

// Two ranks take the very features that one process takes, keep them once, and learn the same from them.
func TestMPI_BehindABackbone(t *testing.T) {
	work := t.TempDir()
	weights := filepath.Join(work, "vgg.safetensors")
	tinyVGG(t, weights, 1)
	manifest := colouredPictures(t, work, 60)
	alone, ranks := filepath.Join(work, "alone"), filepath.Join(work, "ranks")
	more := []string{"--arm", "nmn-fi", "--nmn-recipe", "paper", "--stage1-epochs", "2", "--stage2-epochs", "2"}
	must(t, backboneRun(manifest, weights, alone, more...)...)
	cmd, _, stderr := underMPI(t, 2, backboneRun(manifest, weights, ranks, more...)...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	kept := func(dir string) (names []string) {
		names, _ = filepath.Glob(filepath.Join(dir, run.FeaturesFolder, "*", "*.safetensors"))
		return names
	}
	want, got := kept(alone), kept(ranks)
	if len(want) == 0 || len(want) != len(got) {
		t.Fatalf("two ranks keep %q, one process %q", got, want)
	}
	for i := range want {
		if filepath.Base(want[i]) != filepath.Base(got[i]) || !bytes.Equal(readBytes(t, want[i]), readBytes(t, got[i])) {
			t.Errorf("%s of two ranks is another file than %s of one process", got[i], want[i])
		}
	}
	one, err := run.ReadOutcome(alone)
	if err != nil {
		t.Fatal(err)
	}
	two, err := run.ReadOutcome(ranks)
	if err != nil {
		t.Fatal(err)
	}
	if one.Steps != two.Steps || !(math.Abs(one.Loss-two.Loss) < 1e-5*math.Abs(one.Loss)) {
		t.Errorf("loss %v after %d steps of two ranks, %v after %d of one process", two.Loss, two.Steps, one.Loss, one.Steps)
	}
}
