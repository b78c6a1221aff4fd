package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

func TestEpochs_RecordGoesOnBehindAStep(t *testing.T) {
	dir := t.TempDir()
	r, err := openEpochs(dir, -1)
	expect.OK(t, err)
	judged := &recipe.Judgement{Evaluation: &eval.Result{}}
	for epoch := 1; epoch <= 3; epoch++ {
		expect.OK(t, r.put(train.Position{Epoch: epoch, Step: 10 * epoch}, judged))
	}
	if r, err = openEpochs(dir, 20); err != nil || len(r.rows) != 2 {
		t.Fatalf("%d rows behind step 20 (%v), want 2", len(r.rows), err)
	}
	if err := r.put(train.Position{Epoch: 2, Step: 20}, judged); err != nil || len(r.rows) != 2 {
		t.Errorf("an epoch that was judged again has two rows (%v)", err)
	}
	for _, bad := range []string{"", "{}", `[{"epoch":1}]`,
		`[{"epoch":2,"step":2,"evaluation":{}},{"epoch":2,"step":3,"evaluation":{}}]`} {
		if _, err := parseEpochs([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// parseCurve is ReadCurve of the text of a log.
func parseCurve(text string) (points []report.Point, broken int, err error) {
	broken, err = eachLine(strings.NewReader(text), func(l *logLine) { points = l.drawn(points, "stage1") })
	return points, broken, err
}

func TestParseCurve_TakesStepsAndEvaluations(t *testing.T) {
	points, broken, err := parseCurve(`{"msg":"configuration","step":0}
{"msg":"step","step":20,"loss":3.5}
{"msg":"evaluation","step":20,"map":0.25,"true_map":0.5}
{"msg":"evaluation","step":30,"map":0.25}
{"msg":"evaluation","step":40,"map":0.25,"accuracy":0.75}
{"msg":"evaluation","step":50,"map":0.25,"accuracy":0.75,"true_accuracy":0.8}
`)
	if err != nil || broken != 0 || len(points) != 5 {
		t.Fatalf("%v, %v", points, err)
	}
	if points[0].Loss != 3.5 || points[0].AP.Defined() || points[1].AP != .5 || points[2].AP != .25 ||
		points[2].Stage != "stage1" || points[2].Accuracy || points[3].AP != .75 || points[4].AP != .8 || !points[4].Accuracy {
		t.Errorf("points %+v", points)
	}
}

func TestEpochLoss_IsThatOfTheLastEpoch(t *testing.T) {
	dir := t.TempDir()
	if _, err := EpochLoss(dir); err == nil {
		t.Error("a folder without a log has a loss")
	}
	for text, want := range map[string]float64{
		`{"msg":"step","step":20,"loss":3.5}` + "\n": 0,
		`{"msg":"epoch","step":20,"loss":3.5}` + "\n" + `{"msg":"epoch","step":40,"loss":2.5}` + "\n" +
			`{"msg":"step","step":60,"loss":9}` + "\n": 2.5,
	} {
		expect.OK(t, os.WriteFile(filepath.Join(dir, LogFile), []byte(text), 0o666))
		if loss, err := EpochLoss(dir); err != nil || loss != want {
			t.Errorf("%s: %v (%v), want %v", text, loss, err, want)
		}
	}
}

// The log of a run that is complete may have been cut by something else since: the run has its result nevertheless.
func TestParseCurve_LeavesOutBrokenLines(t *testing.T) {
	step := `{"msg":"step","step":20,"loss":3.5}`
	for text, want := range map[string]int{step + "\n" + step[:20]: 1, step + "\n" + step[:20] + "\n" + step + "\n": 2} {
		points, broken, err := parseCurve(text)
		if err != nil || broken != 1 || len(points) != want {
			t.Errorf("%q: %d points, %d broken lines (%v), want %d and 1", text, len(points), broken, err, want)
		}
	}
	if _, _, err := parseCurve("an essay\n"); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("no log: %v", err)
	}
}

func FuzzParseCurve(f *testing.F) {
	f.Add("{\"msg\":\"step\",\"step\":1,\"loss\":2}\n")
	f.Add("{\"msg\":\"evaluation\",\"map\":null}\n{")
	f.Fuzz(func(t *testing.T, text string) {
		points, _, err := parseCurve(text)
		if err == nil && len(points) > strings.Count(text, "\n")+1 {
			t.Errorf("%d points of %q", len(points), text)
		}
	})
}

// The curve of stage 2 goes on where that of stage 1 ends, each with its own name.
func TestAfterStage1_StepsGoOn(t *testing.T) {
	dir := t.TempDir()
	second := []report.Point{{Step: 1, Stage: "held-rates", Loss: 2, AP: eval.Undefined()}}
	if got := afterStage1(dir, second); len(got) != 1 || got[0].Step != 1 {
		t.Errorf("without a log of stage 1: %+v", got)
	}
	log := `{"msg":"step","step":1,"loss":5}` + "\n" + `{"msg":"step","step":7,"loss":3}` + "\n" +
		`{"msg":"evaluation","step":7,"map":0.5}` + "\n"
	expect.OK(t, os.WriteFile(filepath.Join(dir, LogFile), []byte(log), 0o644))
	got := afterStage1(dir, second)
	if len(got) != 4 || got[0].Stage != "stage1" || got[1].Step != 7 || got[2].AP != .5 || got[3].Step != 8 ||
		got[3].Stage != "held-rates" {
		t.Errorf("both stages: %+v", got)
	}
}
