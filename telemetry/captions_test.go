package telemetry

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nmn/captioning"
	"nmn/eval/caption"
	"nmn/train"
)

// captionEvents sends the events of two epochs to a summary and a log.
func captionEvents(o captioning.Observer) {
	for epoch := 1; epoch <= 2; epoch++ {
		o.Epoch(captioning.EpochDone{Epoch: epoch, Step: 10 * epoch, Loss: 8 / float64(epoch), WordLoss: 2,
			Captions: 64, Words: 256, Duration: time.Second})
		o.Evaluated(captioning.Evaluated{Epoch: epoch, Step: 10 * epoch, CIDEr: .5 * float64(epoch), Best: true})
	}
}

func TestCaptionSummary_RowsAndResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.csv")
	s, err := OpenCaptionSummary(path, -1)
	if err != nil {
		t.Fatal(err)
	}
	captionEvents(s.CaptionObserver(func() caption.Scores {
		return caption.Scores{BLEU: [4]float64{1, 1, 1, .25}, ROUGEL: .75, METEOR: .125}
	}))
	if s.Flush() != nil || s.Last("epoch", "loss") != 4 || s.Last("validation", "cider_d") != 1 ||
		s.Last("none", "loss") != 0 {
		t.Errorf("%v: loss %v, CIDEr-D %v", s.Flush(), s.Last("epoch", "loss"), s.Last("validation", "cider_d"))
	}
	if s, err = OpenCaptionSummary(path, 10); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join(CaptionSummaryColumns(), ",") +
		"\nepoch,10,1,8,2,64,256,1,,,,,\nvalidation,10,1,,,,,0,true,0.5,0.25,0.75,0.125\n"
	if string(content) != want || s.Last("epoch", "loss") != 8 {
		t.Errorf("resumed behind step 10:\n%swant\n%s", content, want)
	}
	if _, err := OpenSummary(path, 10); err == nil {
		t.Error("the summary of a captioner is taken for one of a classifier")
	}
}

func TestLogCaptionsTo_StepsHaveTypedKeys(t *testing.T) {
	var b bytes.Buffer
	o := LogCaptionsTo(slog.New(slog.NewJSONHandler(&b, nil)))
	o.Step(captioning.StepDone{Progress: train.Progress{Step: 1, Loss: 9}})
	o.Step(captioning.StepDone{Progress: train.Progress{Epoch: 1, Step: 50, Loss: 20, Duration: 3 * time.Millisecond,
		Log: true}, Captions: 8, Words: 80})
	o.Saved(train.Saved{Epoch: 1, Step: 50, Path: "runs/x/last.safetensors", Best: true})
	captionEvents(o)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines, want a step, a checkpoint, and two epochs with validations:\n%s", len(lines), b.String())
	}
	var step map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &step); err != nil || step["step"] != 50. || step["word_loss"] != 2. ||
		step["step_ms"] != 3. {
		t.Errorf("%v: %s", err, lines[0])
	}
	if !strings.Contains(lines[1], `"path":"last.safetensors"`) {
		t.Errorf("%s", lines[1])
	}
}
