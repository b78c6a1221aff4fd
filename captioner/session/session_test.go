package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nmn/captioner"
	"nmn/captioner/metrics"
	"nmn/internal/durable"
	"nmn/internal/expect"
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
	expect.OK(t, err)
	expect.OK(t, captioner.WriteScenes(dir, moving, captions))
	c, err := FromPreset(MovingScenes)
	expect.OK(t, err)
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
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, s.Close()) })
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
	expect.OK(t, err)
	net, about, err := captioner.OpenNet(file, s.Backend)
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, net.Close()) })
	words, err := captioner.ReadWords(filepath.Join(dir, captioner.WordsFile))
	expect.OK(t, err)
	clips := s.Data.Validation
	expect.OK(t, errors.Join(captioner.Fit(clips, about.Model.Frames, about.Model.Features, false),
		words.Same(about.Words)))
	generated, err := captioner.Generate(t.Context(), net, words, clips, s.Config.Validation.Generation(), nil)
	if err != nil || len(generated) != clips.Clips() {
		t.Fatalf("%d captions of %d clips (%v)", len(generated), clips.Clips(), err)
	}
	result, err := captioner.Score(t.Context(), clips, generated, nil)
	expect.OK(t, err)
	if o, err := ReadOutcome(dir); err != nil || result.All != *o.Validation {
		t.Errorf("scores %+v, those of the run %+v (%v)", result.All, o, err)
	}
}

func TestSession_RefusesAnotherRun(t *testing.T) {
	c, dir := sceneConfig(t), filepath.Join(t.TempDir(), "run")
	c.Train.MaxSteps = 2
	s, _ := openSession(t, c)
	_, err := s.Train(t.Context(), dir)
	expect.OK(t, err)
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
		expect.OK(t, err)
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
	expect.OK(t, os.WriteFile(c.Data.Train.Captions, []byte(`{"elsewhere": ["a ball"]}`), 0o666))
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
	expect.OK(t, err)
	return content
}

// 9 captions in batches of 4 leave a batch of 1, which says nothing of the others.
func TestStopwatch_TakesTheMeanOfFullBatchesAfterTheFirst(t *testing.T) {
	var w stopwatch
	for i, e := range []struct {
		captions int
		took     time.Duration
	}{{4, 90 * time.Second}, {4, 3 * time.Second}, {1, time.Millisecond}, {4, 5 * time.Second}} {
		w.see(captioner.StepDone{Progress: train.Progress{Step: i + 1, Duration: e.took}, Captions: e.captions})
		if i == 0 && w.mean() != 90*time.Second {
			t.Errorf("the only step takes %v", w.mean())
		}
	}
	if w.mean() != 4*time.Second || w.captions != 4 {
		t.Errorf("%d captions take %v, want 4 in 4 s", w.captions, w.mean())
	}
}

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
