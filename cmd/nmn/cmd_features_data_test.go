package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"nmn/run"
)

// On Mulan's scene, 1211 and 1196 pictures as 294 features, the first stage reaches what the same net
// reached in PyTorch, trained on all rows for six epochs: without label noise, and with labels missing
// and wrong. Means over four seeds against the true labels, with the tolerance of such a mean.
func TestFeatures_SceneOfMulan(t *testing.T) {
	folder := os.Getenv("NMN_DATA")
	if folder == "" {
		t.Skip("NMN_DATA names no folder with data")
	}
	file := func(name string) string { return filepath.Join(folder, "mulan", name) }
	if _, err := os.Stat(file("scene.xml")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		flips                          string
		ap, apWithin, brier, brierWith float64
	}{{"0:0", .830, .012, .062, .003}, {"0.3:0.1", .781, .025, .089, .007}} {
		dir := t.TempDir()
		must(t, "experiment", file("scene-train.arff.gz"), "--labels", file("scene.xml"),
			"--set", "data.features.test.features="+file("scene-test.arff.gz"), "--arms", "stage1", "--flips", c.flips,
			"--seeds", "1,2,3,4", "--set", "data.validation_share=0", "--set", "train.patience=0",
			"--set", "train.evaluate_epochs=0", "--set", "train.stage1_epochs=6", "--run-dir", dir, "-q")
		var ap, brier float64
		results, err := filepath.Glob(filepath.Join(dir, "*", "*", "stage1", run.ResultFile))
		if err != nil || len(results) != 4 {
			t.Fatalf("%d results, %v", len(results), err)
		}
		for _, path := range results {
			data := readBytes(t, path)
			var o run.Outcome
			check(t, json.Unmarshal(data, &o))
			ap += float64(o.Evaluation.Truth.AP.All) / 4
			brier += float64(o.Evaluation.Truth.Brier.All) / 4
		}
		t.Logf("flips %s: AP %.4f, Brier %.4f", c.flips, ap, brier)
		if math.Abs(ap-c.ap) > c.apWithin || math.Abs(brier-c.brier) > c.brierWith {
			t.Errorf("flips %s: AP %.4f, Brier %.4f, want %.3f ± %.3f and %.3f ± %.3f", c.flips, ap, brier, c.ap,
				c.apWithin, c.brier, c.brierWith)
		}
	}
}
