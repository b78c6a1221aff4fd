package captioner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/captioner/metrics"
	"nmn/captioner/s2vt"
	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/tools/conform"
	"nmn/train"
)

// trained is the last checkpoint of a short training.
func trained(t testing.TB, r rig) string {
	t.Helper()
	r.directory = t.TempDir()
	run(t, r.trainer(t))
	return filepath.Join(r.directory, train.LastName)
}

func TestOpenNet_CaptionsAsTheTrainedNet(t *testing.T) {
	r := newRig()
	r.directory = t.TempDir()
	trainer := r.trainer(t)
	run(t, trainer)
	net, c, err := OpenNet(filepath.Join(r.directory, train.LastName), conform.OpenDevice(t, 1))
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, net.Close()) })
	if !slices.Equal(weights(t, net), weights(t, trainer.Net)) {
		t.Error("weights differ from those that were saved")
	}
	if err := c.Words.Same(trainer.Words); err != nil {
		t.Errorf("words: %v", err)
	}
	if c.Position.Step != 12 || c.Config != r.config || c.Model != trainer.Net.Config() || c.Data.Clips != 10 ||
		c.Data.Captions != 15 {
		t.Errorf("checkpoint %+v", c)
	}
}

func TestResume_RefusesWhatIsOfAnotherRunAndSaysWhat(t *testing.T) {
	path := trained(t, newRig())
	for want, test := range map[string]struct {
		change func(*rig)
		is     error
	}{
		"seed is 1, this one 2":               {func(r *rig) { r.config.Seed = 2 }, train.ErrOtherRun},
		"learning_rate is 0.01, this one 0.5": {func(r *rig) { r.config.LearningRate = .5 }, train.ErrOtherRun},
		"batch is 4, this one 5":              {func(r *rig) { r.config.Batch = 5 }, train.ErrOtherRun},
		"model has dropout = 0, this one 0.5": {func(r *rig) { r.dropout = .5 }, train.ErrOtherModel},
		"10 clips with 15 captions": {func(r *rig) { r.source = func(s *reel) Source { s.clips = 9; return s } },
			train.ErrOtherRun},
		"15 captions (":        {func(r *rig) { r.source = func(s *reel) Source { return oneFrame{s} } }, train.ErrOtherRun},
		"these are 10 with 15": {func(r *rig) { r.source = func(s *reel) Source { return reworded{s} } }, train.ErrOtherRun},
		`word 2 is "one" in one of 8 words and`: {func(r *rig) { r.words = strings.Fields("a 1 2 3 4 is shown now") },
			ErrOtherWords},
	} {
		r := newRig()
		test.change(&r)
		err := r.trainer(t).Resume(path)
		expect.Refusal(t, err, want, test.is)
		expect.Refusal(t, err, path)
	}
}

// oneFrame is a reel whose clips are cut to their first frame, reworded one with other captions of the same length.
type oneFrame struct{ *reel }
type reworded struct{ *reel }

func (oneFrame) FrameCount(int) int { return 1 }

func (r reworded) Captions(clip int) (captions [][]int32) {
	for _, words := range r.reel.Captions(clip) {
		words = slices.Clone(words)
		slices.Reverse(words)
		captions = append(captions, words)
	}
	return captions
}

func TestResume_DamagedCheckpointWithoutOneBeforeNamesHowToBeginAnew(t *testing.T) {
	path := trained(t, newRig())
	expect.OK(t, os.RemoveAll(filepath.Join(filepath.Dir(path), train.PreviousName)))
	expect.OK(t, os.Truncate(path, 1000))
	expect.Refusal(t, newRig().trainer(t).Resume(path), "To start over, remove it and resume: ", train.ErrCorrupt)
}

func TestResume_LimitsAndIntervalsMayChange(t *testing.T) {
	path := trained(t, newRig())
	r := newRig()
	r.config.Epochs, r.config.LogSteps, r.config.CheckpointSteps = 5, 3, 7
	trainer := r.trainer(t)
	expect.OK(t, trainer.Resume(path))
	run(t, trainer)
	if step := trainer.Position().Step; step != 20 {
		t.Errorf("ended at step %d, want 20", step)
	}
	cosine := newRig()
	cosine.config.Schedule = train.Cosine
	path = trained(t, cosine)
	expect.OK(t, cosine.trainer(t).Resume(path))
	cosine.config.Epochs = 4
	expect.Refusal(t, cosine.trainer(t).Resume(path), "epochs is 3, this one 4", train.ErrOtherRun)
}

func TestCheckpoint_CutShortAtAnyPlaceIsCorrupt(t *testing.T) {
	path := trained(t, newRig())
	whole, err := os.ReadFile(path)
	expect.OK(t, err)
	for _, size := range []int{0, 5, 8, 100, len(whole) / 2, len(whole) - 1} {
		cut := filepath.Join(t.TempDir(), "cut.safetensors")
		expect.OK(t, os.WriteFile(cut, whole[:size], 0o644))
		expect.Refusal(t, expect.ErrorOf(ReadCheckpoint(cut)), cut, train.ErrCorrupt)
	}
	expect.Refusal(t, expect.ErrorOf(ReadCheckpoint(path+"x")), "", fs.ErrNotExist)
}

// rewrite writes a checkpoint again with other metadata.
func rewrite(t *testing.T, path string, change func(*Checkpoint)) string {
	t.Helper()
	file, err := safetensors.Open(path)
	expect.OK(t, err)
	defer file.Close()
	c, err := frame.Parse(file)
	expect.OK(t, err)
	change(c)
	var tensors []safetensors.Tensor
	for _, name := range file.Names() {
		values, shape, err := file.Float32(name)
		expect.OK(t, err)
		tensors = append(tensors, safetensors.Tensor{Name: name, Shape: shape, Data: values})
	}
	to := filepath.Join(t.TempDir(), "changed.safetensors")
	_, err = frame.Replace(to, "", c, tensors)
	expect.OK(t, err)
	return to
}

func TestCheckpoint_HostileMetadataIsAnError(t *testing.T) {
	path := trained(t, newRig())
	for name, change := range map[string]func(*Checkpoint){
		"another format":        func(c *Checkpoint) { c.Format = 2 },
		"epoch 0":               func(c *Checkpoint) { c.Position.Epoch = 0 },
		"a step below 0":        func(c *Checkpoint) { c.Position.Step = -1 },
		"validated later":       func(c *Checkpoint) { c.Position.Validated = 99 },
		"best later":            func(c *Checkpoint) { c.Best.Step = 99 },
		"no words":              func(c *Checkpoint) { c.Words = nil },
		"a larger vocabulary":   func(c *Checkpoint) { c.Model.Vocabulary++ },
		"a net without cells":   func(c *Checkpoint) { c.Model.Hidden = 0 },
		"a net of a terabyte":   func(c *Checkpoint) { c.Model.Hidden = 1 << 20 },
		"features of another":   func(c *Checkpoint) { c.Model.Features-- },
		"a batch of the future": func(c *Checkpoint) { c.Position.Batch = 5 },
	} {
		changed := rewrite(t, path, change)
		if err := newRig().trainer(t).Resume(changed); err == nil {
			t.Errorf("%s: resumed", name)
		}
		net, _, err := OpenNet(changed, conform.OpenDevice(t, 1))
		if err == nil {
			expect.OK(t, net.Close())
			if name != "a batch of the future" {
				t.Errorf("%s: opened", name)
			}
		}
	}
	plain := filepath.Join(t.TempDir(), "plain.safetensors")
	_, err := safetensors.WriteFile(plain, nil, nil)
	expect.OK(t, err)
	expect.Refusal(t, expect.ErrorOf(ReadCheckpoint(plain)), "", train.ErrCorrupt)
}

// A process that was killed between a checkpoint and its name as the best gives it that name when it resumes.
func TestResume_TheBestGetsItsName(t *testing.T) {
	r := validating(t.TempDir())
	r.config.Epochs = 1
	run(t, r.trainer(t))
	best := filepath.Join(r.directory, train.BestName)
	expect.OK(t, os.Remove(best))
	run(t, r.resumed(t))
	if c, err := ReadCheckpoint(best); err != nil || c.Position.Step != 4 {
		t.Errorf("best.safetensors after resuming: %+v, %v", c, err)
	}
}

// validating saves and validates often, by a score that goes up and down.
func validating(directory string) rig {
	r := newRig()
	r.dropout, r.directory, r.config.Epochs, r.config.CheckpointSteps, r.config.ValidateEpochs = .3, directory, 25, 1, 1
	r.validate = fakeCIDEr
	return r
}

// These environment variables set the folder of a training that kills its process, and the time of the kill.
const (
	killEnv      = "NMN_TEST_KILL_CAPTIONING"
	killAfterEnv = "NMN_TEST_KILL_AFTER"
)

func TestKilledAtRandomAndResumed_FilesEqualTheUnbrokenOnes(t *testing.T) {
	t.Parallel()
	if directory := os.Getenv(killEnv); directory != "" {
		after, err := time.ParseDuration(os.Getenv(killAfterEnv))
		expect.OK(t, err)
		goOn(t, killsItself(validating(directory), after))
		return
	}
	if testing.Short() {
		t.Skip("kills and restarts processes for seconds")
	}
	const kills = 4
	unbroken, directory := t.TempDir(), t.TempDir()
	goOn(t, validating(unbroken))
	draw := rng.New(1)
	for range kills {
		after := time.Duration(draw.Uniform(0, float64(5*time.Millisecond)))
		command := exec.Command(os.Args[0], "-test.run=^TestKilledAtRandom")
		command.Env = append(os.Environ(), killEnv+"="+directory, killAfterEnv+"="+after.String())
		if out, err := command.CombinedOutput(); err == nil || bytes.Contains(out, []byte("FAIL")) {
			t.Fatalf("a process was not killed: %v: %s", err, out)
		}
	}
	goOn(t, validating(directory))
	sameFiles(t, directory, unbroken, train.LastName, train.PreviousName, train.BestName)
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 3 {
		t.Errorf("files %v, %v: want three", entries, err)
	}
}

// sameFiles fails for each file of a folder that is not as in another.
func sameFiles(t *testing.T, folder, other string, names ...string) {
	t.Helper()
	for _, name := range names {
		want, err := os.ReadFile(filepath.Join(other, name))
		expect.OK(t, err)
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: %d bytes, want %d (%v)", name, len(got), len(want), err)
		}
	}
}

// killsItself makes a training kill its process the given time after its second validation, and no later than at its
// fourth one.
func killsItself(r rig, after time.Duration) rig {
	validate, validated := r.validate, 0
	r.validate = func(ctx context.Context, n *s2vt.Net) (metrics.Scores, error) {
		switch validated++; validated {
		case 2:
			time.AfterFunc(after, func() {
				if self, err := os.FindProcess(os.Getpid()); err != nil || self.Kill() != nil {
					panic("a process cannot kill itself")
				}
			})
		case 4:
			select {}
		}
		return validate(ctx, n)
	}
	return r
}

// goOn resumes a training from its last checkpoint, if any, and runs it to the end.
func goOn(t *testing.T, r rig) {
	t.Helper()
	trainer := r.trainer(t)
	if err := trainer.Resume(filepath.Join(r.directory, train.LastName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	run(t, trainer)
}

// Whatever metadata says, reading it ends with a checkpoint whose numbers make sense, or with an error.
func FuzzParseCheckpoint(f *testing.F) {
	words, err := NewWords([]string{"a"}, nil)
	expect.OK(f, err)
	c := Checkpoint{Format: train.CheckpointFormat, Words: words, Position: Position{Epoch: 1}, Config: DefaultConfig()}
	c.Model.Frames, c.Model.Features, c.Model.Vocabulary, c.Model.Embedding, c.Model.Words, c.Model.Hidden = 1,
		1, 5, 1, 1, 1
	good, err := json.Marshal(c)
	expect.OK(f, err)
	f.Add(string(good))
	f.Add(`{"format":1,"words":["a","a"],"position":{"epoch":1}}`)
	f.Add(`{"format":1,"model":{"hidden":16777216,"vocabulary":16777216},"words":null}`)
	f.Fuzz(func(t *testing.T, meta string) {
		var b bytes.Buffer
		tensors := []safetensors.Tensor{{Name: "x", Shape: []int{60}, Data: make([]float32, 60)}}
		if err := safetensors.Write(&b, map[string]string{frame.Key: meta}, tensors); err != nil {
			return // no text that a header can hold
		}
		file, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
		expect.OK(t, err)
		c, err := frame.Parse(file)
		if err != nil {
			return
		}
		if c.Model.Validate() != nil || c.Words.Len() != c.Model.Vocabulary || c.Model.Parameters() > 60 ||
			c.Position.Epoch < 1 {
			t.Errorf("accepted %+v", c)
		}
	})
}

// late makes the clock of a rig go on by a minute whenever it is looked at: a checkpoint is due at every step.
func late(o Options) Options {
	var now time.Time
	o.Clock = func() time.Time {
		now = now.Add(time.Minute)
		return now
	}
	o.Config.CheckpointMinutes = 1
	return o
}

func newTrainer(t testing.TB, o Options) *Trainer {
	t.Helper()
	trainer, err := New(o)
	expect.OK(t, err)
	t.Cleanup(func() { expect.OK(t, trainer.Close()) })
	return trainer
}

func TestCheckpointMinutes_EveryCheckpointOfAnEpochResumesBitForBit(t *testing.T) {
	t.Parallel()
	r := validating(t.TempDir())
	r.config.Epochs, r.config.CheckpointSteps = 4, 0
	saved := map[int]string{}
	var epochs []EpochDone
	told := func(to *[]EpochDone) Observer {
		return Observer{Epoch: func(e EpochDone) {
			e.Duration = 0
			*to = append(*to, e)
		}}
	}
	r.observers = []Observer{told(&epochs), {Saved: func(e train.Saved) {
		saved[e.Step] = t.TempDir()
		expect.OK(t, os.CopyFS(filepath.Join(saved[e.Step], "run"), os.DirFS(r.directory)))
	}}}
	unbroken := newTrainer(t, late(r.options(t)))
	run(t, unbroken)
	if len(saved) != unbroken.Position().Step {
		t.Fatalf("checkpoints of %d of %d steps", len(saved), unbroken.Position().Step)
	}
	for step, kept := range saved {
		var resumed []EpochDone
		r.directory, r.observers = filepath.Join(kept, "run"), []Observer{told(&resumed)}
		trainer := r.resumed(t)
		run(t, trainer)
		if trainer.Position() != unbroken.Position() || trainer.best() != unbroken.best() ||
			!slices.Equal(weights(t, trainer.Net), weights(t, unbroken.Net)) {
			t.Errorf("from step %d: ended at %+v, unbroken %+v", step, trainer.Position(), unbroken.Position())
		}
		if n := len(epochs) - len(resumed); n < 0 || !slices.Equal(resumed, epochs[n:]) {
			t.Errorf("from step %d: epochs %+v of %+v", step, resumed, epochs)
		}
	}
}

func TestRun_DiskThatIsFullForAWhileCostsNothing(t *testing.T) {
	t.Parallel()
	r := validating(t.TempDir())
	r.config.Epochs = 5
	run(t, newTrainer(t, late(r.options(t))))
	want := r.directory
	for _, window := range [][2]int{{1, 4}, {4, 13}, {3, 20}} {
		r.directory = t.TempDir()
		unsaved := 0
		r.observers = []Observer{{Unsaved: func(train.Unsaved) { unsaved++ }}}
		trainer := newTrainer(t, late(r.options(t)))
		replace := trainer.keeper.Replace
		trainer.keeper.Replace = func(path, previous string, c *Checkpoint, tensors []safetensors.Tensor) (int64, error) {
			if step := trainer.at.Step; step >= window[0] && step < window[1] {
				return 0, syscall.ENOSPC
			}
			return replace(path, previous, c, tensors)
		}
		run(t, trainer)
		if unsaved == 0 {
			t.Errorf("full from step %d to %d: nothing was told", window[0], window[1])
		}
		sameFiles(t, r.directory, want, train.LastName, train.BestName)
	}
}
