package table4

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader/scenes"
	"nmn/run"
)

// ownFeatures are true concepts of moving scenes in a folder, as of a caller, with the captions of all splits in one
// file.
func ownFeatures(t *testing.T) (folder, captions string) {
	t.Helper()
	folder = t.TempDir()
	captions = filepath.Join(folder, "all.json")
	all := map[string][]string{}
	for split, n := range map[string]int{splitTrain: 16, splitValidation: 6, splitTest: 5} {
		config := scenes.MovingConfig{Seed: 1, Split: split, N: n, Frames: 3}
		of, err := captioner.SceneCaptions(config, scenes.CaptionsPerPicture)
		check(t, err)
		check(t, captioner.WriteSceneTruth(filepath.Join(folder, split), config, of.IDs))
		for id, texts := range of.Of {
			all[id] = texts
		}
	}
	check(t, durable.SaveJSON(captions, all))
	return folder, captions
}

func TestExperiment_OnFeaturesOfTheCaller(t *testing.T) {
	e := New(filepath.Join(t.TempDir(), "table4"))
	folder, captions := ownFeatures(t)
	e.Features, e.Captions = []Features{{"mine", folder}, {"twin", folder}}, captions
	e.Captioner.Train.Epochs, e.Captioner.Net.Hidden, e.Captioner.Device = 1, 8, "cpu"
	var messages []string
	e.Captioning.Message = func(m run.Message) { messages = append(messages, m.Text) }
	tables, err := e.Run(t.Context())
	if err != nil || len(tables) != 2 {
		t.Fatalf("%d tables (%v)", len(tables), err)
	}
	table := tables[0]
	if len(table.Rows) != 3 || !strings.HasPrefix(table.Title, "Captions of test clips of all.json") {
		t.Fatalf("%+v", table)
	}
	if fmt.Sprint(table.Rows[0].Cells[1:]) != fmt.Sprint(table.Rows[1].Cells[1:]) {
		t.Errorf("the same features have other scores under another name:\n%v\n%v", table.Rows[0], table.Rows[1])
	}
	generated := filepath.Join(e.Dir, "captioners", "seed-2", "twin", "generated.json")
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
		"features":          func(e *Experiment) { e.Captions = "captions.json" },
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

func TestClips_ValidationIsJudgedWithoutTestClips(t *testing.T) {
	c := clips{captions: map[string]*metrics.Captions{splitTrain: {}, splitValidation: {}}}
	if got := c.judged(); got != splitValidation {
		t.Errorf("judged by %s", got)
	}
	c.captions[splitTest] = &metrics.Captions{}
	if got := c.judged(); got != splitTest {
		t.Errorf("judged by %s", got)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
