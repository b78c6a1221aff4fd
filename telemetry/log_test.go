package telemetry

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/loader"
	"nmn/train"
)

func openLog(t *testing.T, path string, step int) *Log {
	t.Helper()
	l, err := OpenLog(path, step)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// lines reads a log back.
func lines(t *testing.T, path string) (all []map[string]any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
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

func TestLog_NamesEachBadSampleAndWhy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l := openLog(t, path, -1)
	l.Observer().Bad(train.BadSamples{Count: 5, New: []loader.BadSample{
		{Bag: 3, ID: "17", Err: errors.New("a.jpg is cut short")},
		{Bag: 4, ID: "18", Err: errors.New("b.jpg is empty")}}})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
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
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(content, `{"step":3,"los`...), 0o644); err != nil {
		t.Fatal(err)
	}
	l = openLog(t, path, 3)
	l.Observer().Step(stepDone(4))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var steps []any
	for _, line := range lines(t, path) {
		steps = append(steps, line["step"])
	}
	if want := []any{nil, 1., 2., 3., 4.}; len(steps) != len(want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	l = openLog(t, path, -1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if rest := lines(t, path); len(rest) != 0 {
		t.Errorf("a new run found %d lines", len(rest))
	}
}

func TestLog_ResumeTakesOutBrokenLinesAndCountsThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	whole := []string{`{"msg":"step","step":1}`, `{"msg":"step","st`, `{"msg":"step","step":2}`, "",
		`{"msg":"step","step":3}`}
	if err := os.WriteFile(path, []byte(strings.Join(whole, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(path, []byte("my notes\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(path, 3); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("error %v does not name the line", err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "my notes\n" {
		t.Errorf("the file is now %q, %v", content, err)
	}
}

func TestSummary_RowsForEpochsAndEvaluationsAndResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.csv")
	s, err := OpenSummary(path, -1)
	if err != nil {
		t.Fatal(err)
	}
	for epoch := 1; epoch <= 3; epoch++ {
		s.Observer().Evaluated(evaluated(t, 10*epoch))
		s.Observer().Epoch(train.EpochDone{Epoch: epoch, Step: 10 * epoch, Loss: 2.5, Bags: 80, Images: 80})
	}
	if s, err = OpenSummary(path, 20); err != nil {
		t.Fatal(err)
	}
	s.Observer().Epoch(train.EpochDone{Epoch: 2, Step: 20, Loss: 9, Bags: 80, Images: 80}) // reported again
	s.Observer().Epoch(train.EpochDone{Epoch: 3, Step: 30, Loss: 1, Bags: 80, Images: 80})
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(content)), "\n")
	if rows[0] != strings.Join(SummaryColumns(), ",") {
		t.Errorf("header %q", rows[0])
	}
	var kinds []string
	for _, row := range rows[1:] {
		kinds = append(kinds, strings.Join(strings.Split(row, ",")[:4], " "))
	}
	want := "evaluation 10 2 |epoch 10 1 2.5|evaluation 20 2 |epoch 20 2 9|epoch 30 3 1"
	if got := strings.Join(kinds, "|"); got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
}

// Rows that found no room are there once there is some, and nothing is left of the error.
func TestSummary_RowsThatCouldNotBeWrittenComeLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.csv")
	s, err := OpenSummary(path, -1)
	if err != nil {
		t.Fatal(err)
	}
	full := true
	s.replace = func(path string, content []byte) error {
		if full {
			return syscall.ENOSPC
		}
		return replace(path, content)
	}
	epoch := func(n int) { s.Observer().Epoch(train.EpochDone{Epoch: n, Step: 10 * n}) }
	wantRows := func(want int) {
		t.Helper()
		if content, err := os.ReadFile(path); err != nil || strings.Count(string(content), "\nepoch,") != want {
			t.Errorf("want %d rows in\n%s%v", want, content, err)
		}
	}
	epoch(1)
	epoch(2)
	wantRows(0)
	if err := s.Flush(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	full = false
	s.Observer().Saved(train.Saved{Step: 20})
	wantRows(2)
	full = true
	epoch(3)
	full = false
	epoch(4)
	wantRows(4)
	if err := s.Flush(); err != nil {
		t.Error(err)
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

func FuzzParseSummary(f *testing.F) {
	header := strings.Join(SummaryColumns(), ",")
	f.Add(header+"\n"+"epoch,1"+strings.Repeat(",", len(SummaryColumns())-2)+"\n", 3)
	f.Add(header+"\nepoch,x\n", 3)
	f.Add("\"", 0)
	f.Fuzz(func(t *testing.T, content string, step int) {
		rows, err := parseSummary(strings.NewReader(content), SummaryColumns(), step)
		for _, row := range rows {
			if err == nil && len(row) != len(SummaryColumns()) {
				t.Errorf("row %q", row)
			}
		}
	})
}

func TestSummary_DamagedFileTellsTheCure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.csv")
	for _, text := range []string{"", "event,step\n", strings.Join(SummaryColumns(), ",") + "\nepoch,3\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenSummary(path, 3); err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%q: %v, want the file and the cure", text, err)
		}
	}
}
