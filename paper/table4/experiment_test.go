package table4

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nmn/captioner"
	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/run"
)

func TestExperiment_FromPicturesToCaptions(t *testing.T) {
	if testing.Short() {
		t.Skip("trains nets and captioners")
	}
	e := New(filepath.Join(t.TempDir(), "table4"))
	d := &e.Nets.Data
	d.TrainSize, d.ValidationSize, d.TestSize, d.Frames, e.PerClip, e.Seeds = 32, 6, 5, 3, 5, []uint64{1}
	e.Nets.Train.Stage1Epochs, e.Nets.Train.Stage2Epochs = 1, 1
	e.Captioner.Train.Epochs, e.Captioner.Net.Hidden, e.Captioner.Device = 1, 8, "cpu"
	var messages []string
	e.Captioning.Message = func(m run.Message) { messages = append(messages, m.Text) }
	tables, err := e.Run(t.Context())
	if err != nil || len(tables) != 2 {
		t.Fatalf("%d tables (%v)", len(tables), err)
	}
	table := tables[0]
	if len(table.Rows) != 5 || !strings.HasPrefix(table.Title, "Captions of 5 moving scenes") ||
		!strings.Contains(fmt.Sprint(table.Rows[3:]), "true concepts") || !strings.Contains(fmt.Sprint(table.Rows[4:]), "always") {
		t.Fatalf("%+v", table)
	}
	generated := filepath.Join(e.Dir, "captioners", "seed-1", "baseline", "generated.json")
	if c, err := captioner.ReadCaptions(t.Context(), generated, ""); err != nil || len(c.IDs) != 5 {
		t.Errorf("generated captions %v (%v)", c, err)
	}
	if !durable.Exists(filepath.Join(e.Dir, "table.md")) {
		t.Error("the tables were not written")
	}
	again, err := e.Run(t.Context())
	if err != nil || fmt.Sprint(again[0].Rows) != fmt.Sprint(table.Rows) ||
		!strings.Contains(strings.Join(messages, "\n"), "is complete: not run again") {
		t.Errorf("run again: %+v (%v), messages %q", again, err, messages)
	}
}

func TestExperiment_SaysWhatIsWrong(t *testing.T) {
	for field, spoil := range map[string]func(e *Experiment){
		"seeds":             func(e *Experiment) { e.Seeds = []uint64{1, 1} },
		"data.test_size":    func(e *Experiment) { e.Nets.Data.TestSize = 0 },
		"captions_per_clip": func(e *Experiment) { e.PerClip = 3 },
		"net":               func(e *Experiment) { e.Captioner.Net.Hidden = 0 },
	} {
		e := New(t.TempDir())
		spoil(e)
		var mistake *setting.Error
		if _, err := e.Run(t.Context()); !errors.As(err, &mistake) || mistake.Key != field {
			t.Errorf("error %v, want one about %s", err, field)
		}
	}
}
