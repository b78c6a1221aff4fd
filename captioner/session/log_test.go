package session

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/train"
)

// captionEvents sends the events of two epochs to an observer.
func captionEvents(o captioner.Observer) {
	for epoch := 1; epoch <= 2; epoch++ {
		o.Epoch(captioner.EpochDone{Epoch: epoch, Step: 10 * epoch, Loss: 8 / float64(epoch), WordLoss: 2,
			Captions: 64, Words: 256, Duration: time.Second})
		o.Evaluated(captioner.Evaluated{Epoch: epoch, Step: 10 * epoch, Best: true,
			Scores:   metrics.Scores{BLEU: [4]float64{1, 1, 1, .25}, ROUGEL: .75, METEOR: .125, CIDErD: .5 * float64(epoch)},
			Duration: time.Second})
	}
}

func TestLogTo_StepsHaveTypedKeys(t *testing.T) {
	var b bytes.Buffer
	o := LogTo(slog.New(slog.NewJSONHandler(&b, nil)))
	o.Step(captioner.StepDone{Progress: train.Progress{Step: 1, Loss: 9}})
	o.Step(captioner.StepDone{Progress: train.Progress{Epoch: 1, Step: 50, Loss: 20, Duration: 3 * time.Millisecond,
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
	for i, want := range map[int]string{
		4: `"msg":"epoch","step":20,"epoch":2,"loss":4,"word_loss":2,"captions":64,"words":256,"epoch_ms":1000}`,
		5: `"msg":"validation","step":20,"epoch":2,"cider_d":1,"bleu_4":0.25,"rouge_l":0.75,"meteor":0.125,"best":true,` +
			`"validation_ms":1000}`,
	} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("%s\nwant %s", lines[i], want)
		}
	}
}
