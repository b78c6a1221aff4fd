package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/captioner"
	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader/scenes"
	"nmn/run"
	"nmn/train"
)

// sceneConfig writes a small split of the moving scenes and configures a captioner of the smallest kind on it.
func sceneConfig(t *testing.T) *Config {
	t.Helper()
	dir, moving := t.TempDir(), scenes.MovingConfig{Seed: 1, Split: "train", N: 24, Frames: 4}
	captions, err := captioner.SceneCaptions(moving, 5)
	check(t, err)
	check(t, captioner.WriteScenes(dir, moving, captions))
	c, err := FromPreset(MovingScenes)
	check(t, err)
	files := &c.Data.Train
	files.Features, files.Clips = filepath.Join(dir, "truth.npy"), filepath.Join(dir, "truth.csv")
	files.Captions = filepath.Join(dir, captioner.CaptionsFile)
	c.Data.ValidationShare, c.Net = .25, NetConfig{Embedding: 8, Words: 6, Hidden: 12}
	c.Train.Batch, c.Train.Epochs = 8, 3
	c.Device, c.Threads = "cpu", 1
	return &c
}

// openSession opens a session that notes its messages.
func openSession(t *testing.T, c *Config) (s *Session, messages *[]string) {
	t.Helper()
	messages = new([]string)
	observer := Observer{Message: func(m run.Message) { *messages = append(*messages, m.Text) }}
	s, err := Open(t.Context(), *c, Options{Observer: observer})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s, messages
}

func TestSession_TrainsResumesAndCaptions(t *testing.T) {
	c := sceneConfig(t)
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	s, messages := openSession(t, c)
	o, err := s.Train(t.Context(), whole)
	if err != nil || o.Epochs != 3 || o.Clips != 18 || o.Captions != 90 || o.Validation == nil ||
		o.Checkpoint != train.BestName {
		t.Fatalf("%+v (%v)", o, err)
	}
	if again, err := s.Train(t.Context(), whole); err != nil || *again.Validation != *o.Validation ||
		!strings.HasSuffix((*messages)[len(*messages)-1], "its results are shown, nothing was trained") {
		t.Errorf("a complete run is run again: %+v (%v), %q", again, err, *messages)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := run.Training{}
	stopping, _ := openSession(t, c)
	stopping.Observe.Training = func(b run.Training) []captioner.Observer {
		begun = b
		return []captioner.Observer{{Epoch: func(captioner.EpochDone) { cancel() }}}
	}
	if _, err := stopping.Train(ctx, broken); !errors.Is(err, run.ErrInterrupted) || !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want an interruption", err)
	}
	if begun.Title != "captioner" || begun.Seed != 1 || begun.Device != s.Backend.Name() {
		t.Errorf("training that begins: %+v", begun)
	}
	again, _ := openSession(t, &s.Config)
	if resumed, err := again.Train(t.Context(), broken); err != nil || resumed.Loss != o.Loss ||
		*resumed.Validation != *o.Validation {
		t.Fatalf("resumed to %+v (%v), in one piece %+v", resumed, err, o)
	}
	for _, name := range []string{train.LastName, train.BestName, captioner.WordsFile} {
		if !bytes.Equal(readFile(t, broken, name), readFile(t, whole, name)) {
			t.Errorf("%s differs from that of a run in one piece", name)
		}
	}
	captionScenes(t, s, whole)
}

// captionScenes captions the clips of validation by the model of a run, which is what the run has scored.
func captionScenes(t *testing.T, s *Session, dir string) {
	file, err := FindCheckpoint(dir, run.Best)
	check(t, err)
	net, about, err := captioner.OpenNet(file, s.Backend)
	check(t, err)
	t.Cleanup(func() { check(t, net.Close()) })
	words, err := captioner.ReadWords(filepath.Join(dir, captioner.WordsFile))
	check(t, err)
	clips := s.Data.Validation
	check(t, errors.Join(captioner.Fit(clips, about.Model.Frames, about.Model.Features, false), words.Same(about.Words)))
	generated, err := captioner.Generate(t.Context(), net, words, clips, s.Config.Validation.Generation(), nil)
	if err != nil || len(generated) != clips.Clips() {
		t.Fatalf("%d captions of %d clips (%v)", len(generated), clips.Clips(), err)
	}
	result, err := captioner.Score(t.Context(), clips, generated, nil)
	check(t, err)
	if o, err := ReadOutcome(dir); err != nil || result.All != *o.Validation {
		t.Errorf("scores %+v, those of the run %+v (%v)", result.All, o, err)
	}
}

func TestSession_RefusesAnotherRun(t *testing.T) {
	c, dir := sceneConfig(t), filepath.Join(t.TempDir(), "run")
	c.Train.MaxSteps = 2
	s, _ := openSession(t, c)
	_, err := s.Train(t.Context(), dir)
	check(t, err)
	there, err := ReadConfig(dir)
	if err != nil || there.Net != c.Net || there.Build == nil {
		t.Errorf("configuration of the folder %+v (%v)", there, err)
	}
	s.Config.Net.Hidden = 13
	var mistake *setting.Error
	if _, err := s.Train(t.Context(), dir); !errors.As(err, &mistake) ||
		!strings.Contains(err.Error(), "net.hidden is 12, this one's 13") {
		t.Errorf("error %v", err)
	}
}

// Neither how often a run is saved by the clock nor where its files lie is part of what it is.
func TestFingerprint_DoesNotDependOnMinutesAndPlaces(t *testing.T) {
	s, _ := openSession(t, sceneConfig(t))
	ids := map[string]bool{}
	for _, minutes := range []float64{0, .5, 15} {
		s.Config.Train.CheckpointMinutes = minutes
		s.Config.Data.Train.Captions = fmt.Sprintf("captions%g.json", minutes)
		id, err := s.fingerprint()
		check(t, err)
		ids[id] = true
	}
	if len(ids) != 1 {
		t.Errorf("%d fingerprints", len(ids))
	}
}

func TestSession_MeasuresWithoutWriting(t *testing.T) {
	s, _ := openSession(t, sceneConfig(t))
	m, err := s.Measure(t.Context())
	if err != nil || m.Memory <= 0 || m.Step <= 0 || m.Steps != 3*12 {
		t.Errorf("%+v (%v), want 3 epochs of 12 steps", m, err)
	}
	if !m.Full() || m.Bags != s.Config.Train.Batch || m.Mean != float64(s.Data.Train.Pairs())/12 {
		t.Errorf("%+v, want full batches of %d of %d captions", m, s.Config.Train.Batch, s.Data.Train.Pairs())
	}
}

func TestOpen_SaysWhatIsWrong(t *testing.T) {
	for field, spoil := range map[string]func(c *Config){
		"data.train.features":      func(c *Config) { c.Data.Train.Features = "" },
		"data.train.captions":      func(c *Config) { c.Data.Train.Captions = "" },
		"data.validation.features": func(c *Config) { c.Data.Validation.Clips = "x.csv" },
		"data.validation_share":    func(c *Config) { c.Data.ValidationShare = 1 },
		"data.max_words":           func(c *Config) { c.Data.MaxWords = -1 },
		"words.size":               func(c *Config) { c.Words.Size = -1 },
		"threads":                  func(c *Config) { c.Threads = -1 },
		"train":                    func(c *Config) { c.Train.Epochs = 0 },
		"net":                      func(c *Config) { c.Net.Hidden = 0 },
		"validation":               func(c *Config) { c.Validation.Beam = 0 },
		"device":                   func(c *Config) { c.Device = "abacus" },
	} {
		c := sceneConfig(t)
		spoil(c)
		var mistake *setting.Error
		if _, err := Open(t.Context(), *c, Options{}); !errors.As(err, &mistake) || mistake.Key != field {
			t.Errorf("error %v, want one about %s", err, field)
		}
	}
	_, err := FromPreset("large")
	if err == nil || !strings.Contains(err.Error(), "want paper, small or moving-scenes") {
		t.Errorf("error %v", err)
	}
}

func TestOpen_DataThatDoNotFitAreNoMistakeOfTheConfiguration(t *testing.T) {
	c := sceneConfig(t)
	check(t, os.WriteFile(c.Data.Train.Captions, []byte(`{"elsewhere": ["a ball"]}`), 0o666))
	var mistake *setting.Error
	if _, err := Open(t.Context(), *c, Options{}); err == nil || errors.As(err, &mistake) {
		t.Errorf("error %v", err)
	}
}

func TestFindCheckpoint_TakesTheLastWhereThereIsNoBest(t *testing.T) {
	c, dir := sceneConfig(t), filepath.Join(t.TempDir(), "run")
	c.Data.ValidationShare, c.Train.MaxSteps = 0, 2
	s, _ := openSession(t, c)
	if o, err := s.Train(t.Context(), dir); err != nil || o.Checkpoint != train.LastName || o.Validation != nil {
		t.Fatalf("%+v (%v)", o, err)
	}
	if file, err := FindCheckpoint(dir, run.Best); err != nil || filepath.Base(file) != train.LastName ||
		!durable.Exists(file) {
		t.Errorf("%s (%v)", file, err)
	}
	if _, err := FindCheckpoint(filepath.Join(dir, "none"), run.Best); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func readFile(t *testing.T, folder, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, name))
	check(t, err)
	return content
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
