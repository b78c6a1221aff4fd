package telemetry

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/train"
)

func stepDone(step int) train.StepDone {
	return train.StepDone{Progress: train.Progress{Epoch: 2, Step: step, Steps: 100, Loss: 1.5, LearningRate: 1e-3,
		GradNorm: 7, DataWait: 250 * time.Millisecond, Duration: 500 * time.Millisecond, DeviceBytes: 4096, Log: true},
		Bags: 8, Images: 16}
}

func evaluated(t *testing.T, step int) train.Evaluated {
	t.Helper()
	r, err := eval.Evaluate(eval.Input{Bags: 2, Classes: 1, Scores: []float32{.9, .2}, Labels: []uint8{1, 0}},
		eval.Options{})
	expect.OK(t, err)
	return train.Evaluated{Epoch: 2, Step: step, Result: r, Best: true, Value: 1, Duration: time.Second}
}

func openLog(t *testing.T, path string, step int) *Log {
	t.Helper()
	l, err := OpenLog(path, step)
	expect.OK(t, err)
	return l
}

// lines reads a log back.
func lines(t *testing.T, path string) (all []map[string]any) {
	t.Helper()
	content, err := os.ReadFile(path)
	expect.OK(t, err)
	for line := range strings.Lines(string(content)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, m)
	}
	return all
}

func TestLog_StepHasTypedKeysWithUnits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l := openLog(t, path, -1)
	done := stepDone(7)
	done.RankTimes = train.RankTimes{Ranks: 4, Wait: time.Second, MostWait: 2 * time.Second, Slowest: 3}
	l.Observer().Step(done)
	quiet := stepDone(8)
	quiet.Log = false
	l.Observer().Step(quiet)
	expect.OK(t, l.Close())
	got := lines(t, path)
	if len(got) != 1 {
		t.Fatalf("%d lines, want the one on the log interval", len(got))
	}
	for key, want := range map[string]any{"msg": "step", "step": 7., "epoch": 2., "loss": 1.5, "lr": 1e-3,
		"grad_norm": 7.,
		"ranks":     4., "rank_wait_ms": 1000., "most_rank_wait_ms": 2000., "slowest_rank": 3.,
		"images_per_s": 32., "data_wait_ms": 250., "step_ms": 500., "device_bytes": 4096.} {
		if got[0][key] != want {
			t.Errorf("%s is %v, want %v", key, got[0][key], want)
		}
	}
}

// The lines of epochs and evaluations have every figure, for tables that are read from the log.
func TestLog_EpochsAndEvaluationsHaveAllFigures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l := openLog(t, path, -1)
	l.Observer().Epoch(train.EpochDone{Epoch: 2, Step: 7, Loss: 2.5, Bags: 80, Images: 160, BadSamples: 3,
		DataWait: time.Second, Duration: 2 * time.Second})
	done := evaluated(t, 7)
	done.Duration = time.Second
	l.Observer().Evaluated(done)
	expect.OK(t, l.Close())
	want := []map[string]any{
		{"msg": "epoch", "step": 7., "epoch": 2., "loss": 2.5, "samples": 80., "images": 160., "bad_samples": 3.,
			"data_wait_ms": 1000., "epoch_ms": 2000.},
		{"msg": "evaluation", "step": 7., "epoch": float64(done.Epoch), "best": done.Best, "evaluation_ms": 1000.},
	}
	measured := 0
	for _, name := range train.Measures() {
		if v := train.Measure(name, done.Result); v.Defined() {
			want[1][name], measured = float64(v), measured+1
		}
	}
	got := lines(t, path)
	for _, line := range got {
		delete(line, "time")
		delete(line, "level")
	}
	if measured == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestLog_NamesEachBadSampleAndWhy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l := openLog(t, path, -1)
	l.Observer().Bad(train.BadSamples{Count: 5, New: []loader.BadSample{
		{Bag: 3, ID: "17", Err: errors.New("a.jpg is cut short")},
		{Bag: 4, ID: "18", Err: errors.New("b.jpg is empty")}}})
	expect.OK(t, l.Close())
	got := lines(t, path)
	if len(got) != 2 || got[0]["id"] != "17" || got[0]["cause"] != "a.jpg is cut short" || got[1]["id"] != "18" ||
		got[1]["count"] != 5. {
		t.Errorf("bad samples are logged as %v", got)
	}
}

func TestLog_ResumeTakesOutStepsThatWillBeRedoneAndACutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l := openLog(t, path, -1)
	o := l.Observer()
	l.Logger().Info("configuration", "seed", 1)
	for step := 1; step <= 5; step++ {
		o.Step(stepDone(step))
	}
	o.Evaluated(evaluated(t, 5))
	o.Epoch(train.EpochDone{Step: 5, Epoch: 1})
	expect.OK(t, l.Close())
	content, err := os.ReadFile(path)
	expect.OK(t, err)
	expect.OK(t, os.WriteFile(path, append(content, `{"step":3,"los`...), 0o644))
	l = openLog(t, path, 3)
	l.Observer().Step(stepDone(4))
	expect.OK(t, l.Close())
	var steps []any
	for _, line := range lines(t, path) {
		steps = append(steps, line["step"])
	}
	if want := []any{nil, 1., 2., 3., 4.}; len(steps) != len(want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	l = openLog(t, path, -1)
	expect.OK(t, l.Close())
	if rest := lines(t, path); len(rest) != 0 {
		t.Errorf("a new run found %d lines", len(rest))
	}
}

func TestLog_ResumeTakesOutBrokenLinesAndCountsThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	whole := []string{`{"msg":"step","step":1}`, `{"msg":"step","st`, `{"msg":"step","step":2}`, "",
		`{"msg":"step","step":3}`}
	expect.OK(t, os.WriteFile(path, []byte(strings.Join(whole, "\n")+"\n"), 0o644))
	l := openLog(t, path, 2)
	l.Observer().Step(stepDone(3))
	if err := l.Close(); err != nil || l.Broken() != 2 {
		t.Errorf("%d broken lines, %v; want 2", l.Broken(), err)
	}
	var steps []any
	for _, line := range lines(t, path) {
		steps = append(steps, line["step"])
	}
	if !slices.Equal(steps, []any{1., 2., 3.}) {
		t.Errorf("steps %v", steps)
	}
}

func TestLog_LostLinesAreCountedInALine(t *testing.T) {
	var line struct {
		Level, Msg string
		Count      int
	}
	if err := json.Unmarshal(lostLines(7), &line); err != nil || line.Level != "WARN" || line.Msg != "lines lost" ||
		line.Count != 7 {
		t.Errorf("%+v, %v", line, err)
	}
}

func TestLog_FileThatIsNoLogIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	expect.OK(t, os.WriteFile(path, []byte("my notes\n"), 0o644))
	if _, err := OpenLog(path, 3); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("error %v does not name the line", err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "my notes\n" {
		t.Errorf("the file is now %q, %v", content, err)
	}
}

func FuzzLinesUntil(f *testing.F) {
	f.Add([]byte("{\"step\":1}\n{\"step\":2}\n{\"st"), 1)
	f.Add([]byte("{}\nnull\n"), 0)
	f.Add([]byte("[1]\n"), 5)
	f.Fuzz(func(t *testing.T, content []byte, step int) {
		kept, _, err := linesUntil(strings.NewReader(string(content)), step)
		if err != nil {
			return
		}
		second, broken, err := linesUntil(strings.NewReader(string(kept)), step)
		if err != nil || broken > 0 || string(second) != string(kept) {
			t.Errorf("kept %q, then %q, %v", kept, second, err)
		}
	})
}
