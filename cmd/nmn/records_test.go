package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseCurve_TakesStepsAndEvaluations(t *testing.T) {
	points, err := parseCurve(strings.NewReader(`{"msg":"configuration","step":0}
{"msg":"step","step":20,"loss":3.5}
{"msg":"evaluation","step":20,"map":0.25,"true_map":0.5}
{"msg":"evaluation","step":30,"map":0.25}
`), "stage1")
	if err != nil || len(points) != 3 {
		t.Fatalf("%v, %v", points, err)
	}
	if points[0].Loss != 3.5 || points[0].AP.Defined() || points[1].AP != .5 || points[2].AP != .25 || points[2].Stage != "stage1" {
		t.Errorf("points %+v", points)
	}
	if _, err := parseCurve(strings.NewReader("{}\n{\"msg\":"), ""); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a cut line: %v", err)
	}
}

func FuzzParseCurve(f *testing.F) {
	f.Add("{\"msg\":\"step\",\"step\":1,\"loss\":2}\n")
	f.Add("{\"msg\":\"evaluation\",\"map\":null}\n{")
	f.Fuzz(func(t *testing.T, text string) {
		points, err := parseCurve(strings.NewReader(text), "s")
		if err == nil && len(points) > strings.Count(text, "\n")+1 {
			t.Errorf("%d points of %q", len(points), text)
		}
	})
}

func TestTrain_WritesForTensorBoardOnRequest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	must(t, tiny("train", "--arm", "stage1", "--run-dir", dir, "--tensorboard", "-q")...)
	files, err := filepath.Glob(filepath.Join(dir, boardName, "events.out.tfevents.*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("event files %v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"train/loss", "against true labels/all words", "surest mistakes/1 "} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the events lack %q", want)
		}
	}
}
