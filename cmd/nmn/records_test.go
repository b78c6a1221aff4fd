package main

import (
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
