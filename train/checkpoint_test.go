package train

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/expect"
	"nmn/model"
	"nmn/text"

	dense "gorgonia.org/tensor"
)

// trained runs a stage in a new folder and returns the path of its last checkpoint.
func trained(t *testing.T, r rig) string {
	t.Helper()
	r.directory = t.TempDir()
	run(t, r.trainer(t))
	return filepath.Join(r.directory, LastName)
}

func short() rig {
	r := newRig()
	r.config.MaxSteps = 3
	return r
}

func TestCheckpoint_HoldsWeightsUnderTorchvisionsNamesAndState(t *testing.T) {
	r := short()
	r.noise = model.FeatureDependent
	path := trained(t, r)
	f, err := safetensors.Open(path)
	expect.OK(t, err)
	for name, shape := range map[string][]int{
		"features.0.weight": {8, 3, 3, 3}, "features.9.bias": {8}, "classifier.0.weight": {16, 8 * 9},
		"classifier.6.weight": {36, 16},
		"nmn.weight":          {2, 2, 36, 8}, "nmn.bias": {2, 2, 36}, "optimizer.m.features.0.weight": {8, 3, 3, 3},
		"optimizer.v.nmn.bias": {2, 2, 36},
	} {
		if _, got, err := f.Info(name); err != nil || !slices.Equal(got, shape) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, shape)
		}
	}
	if f.Metadata["format"] != "pt" {
		t.Errorf("metadata %v", f.Metadata["format"])
	}
	check(t, f.Close())
	c, err := ReadCheckpoint(path)
	expect.OK(t, err)
	v, err := c.Vocabulary()
	if err != nil || v.Len() != 36 || v.Word(0).Text != "ball" || v.Word(20).POS != text.JJ || c.Position.Step != 3 ||
		c.Updates != 3 {
		t.Errorf("checkpoint %+v, %v", c, err)
	}
}

func TestOpenNet_ScoresAsTheTrainedNet(t *testing.T) {
	r := short()
	r.noise, r.mil, r.directory = model.FeatureDependent, true, t.TempDir()
	trainer := r.trainer(t)
	run(t, trainer)
	want, err := Score(t.Context(), trainer.Net, trainer.Data, trainer.Options.loaderConfig())
	expect.OK(t, err)
	net, _, err := OpenNet(filepath.Join(r.directory, LastName), openCPU(t, 2))
	expect.OK(t, err)
	t.Cleanup(func() { check(t, net.Close()) })
	config := trainer.Options.loaderConfig()
	config.BatchSize = 7
	got, err := Score(t.Context(), net, trainer.Data, config)
	expect.OK(t, err)
	if !slices.Equal(got.Logits.Float32s(), want.Logits.Float32s()) ||
		!slices.Equal(got.Observed.Float32s(), want.Observed.Float32s()) {
		t.Error("scores differ from the saved net")
	}
}

func TestResume_RefusesWhatIsOfAnotherRunAndSaysWhat(t *testing.T) {
	path := trained(t, short())
	for want, test := range map[string]struct {
		change func(*Options)
		rig    func(*rig)
		is     error
	}{
		"seed is 1, this one 2":          {rig: func(r *rig) { r.config.Seed = 2 }, is: ErrOtherRun},
		"setting learning_rate is 0.001": {rig: func(r *rig) { r.config.LearningRate = .5 }, is: ErrOtherRun},
		"setting freeze is null": {rig: func(r *rig) { r.config.Freeze = []string{"backbone.*"} },
			is: ErrOtherRun},
		"to stage 1, this is stage 2": {change: func(o *Options) { o.Stage = 2 }, is: ErrOtherRun},
		`model has noise = "none"`: {rig: func(r *rig) { r.noise = model.FeatureIndependent },
			is: ErrOtherModel},
		"model has dropout = 0, this one 0.5": {rig: func(r *rig) { r.dropout = .5 }, is: ErrOtherModel},
		"trained on 40 samples":               {rig: func(r *rig) { r.bags = 41 }, is: ErrOtherRun},
		"other identifiers or labels": {change: func(o *Options) {
			set := *o.Data
			labels := slices.Clone(set.Labels.Uint8s())
			labels[7] ^= 1
			set.Labels = dense.New(dense.WithShape(set.Len(), 36), dense.WithBacking(labels))
			o.Data = &set
		}, is: ErrOtherRun},
		`class 3 is "tent" in it and "shed" in the data`: {change: func(o *Options) {
			set := *o.Data
			var words []text.Word
			for i := range set.Vocabulary.Len() {
				words = append(words, set.Vocabulary.Word(i))
			}
			words[2].Text = "shed"
			var err error
			set.Vocabulary, err = text.NewVocabulary(words)
			check(t, err)
			o.Data = &set
		}, is: ErrOtherModel},
	} {
		r := short()
		if test.rig != nil {
			test.rig(&r)
		}
		o := r.options(t)
		if test.change != nil {
			test.change(&o)
		}
		err := newTrainer(t, o).Resume(path)
		if !errors.Is(err, test.is) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestResume_LimitsAndIntervalsMayChange(t *testing.T) {
	path := trained(t, short())
	r := short()
	r.config.MaxSteps, r.config.Stage1Epochs, r.config.LogSteps, r.config.CheckpointSteps = 12, 5, 3, 7
	trainer := r.trainer(t)
	check(t, trainer.Resume(path))
	if result := run(t, trainer); result.Step != 12 {
		t.Errorf("ended at step %d, want 12", result.Step)
	}
}

func TestCheckpoint_CutShortAtAnyPlaceIsCorrupt(t *testing.T) {
	path := trained(t, short())
	whole, err := os.ReadFile(path)
	expect.OK(t, err)
	for _, size := range []int{0, 5, 8, 100, len(whole) / 2, len(whole) - 1} {
		cut := filepath.Join(t.TempDir(), "cut.safetensors")
		check(t, os.WriteFile(cut, whole[:size], 0o644))
		expect.Refusal(t, expect.ErrorOf(ReadCheckpoint(cut)), cut, ErrCorrupt)
		expect.Refusal(t, short().trainer(t).Resume(cut), "", ErrCorrupt)
	}
	expect.Refusal(t, expect.ErrorOf(ReadCheckpoint(path+"x")), "", fs.ErrNotExist)
}

// One flipped bit in a weight is a number like any other: the checksums alone show it.
func TestCheckpoint_AFlippedBitIsFound(t *testing.T) {
	path := trained(t, short())
	whole, err := os.ReadFile(path)
	check(t, err)
	f, err := safetensors.Open(path)
	check(t, err)
	start := len(whole)
	for _, name := range f.Names() {
		data, err := f.Bytes(name)
		check(t, err)
		start -= int(data.Size())
	}
	check(t, f.Close())
	step := bytes.Index(whole, []byte(`\"step\":`)) + len(`\"step\":`)
	for what, at := range map[string]int{"a weight": start, "the position": step, "a moment": len(whole) - 4} {
		damaged := filepath.Join(t.TempDir(), "damaged.safetensors")
		flipped := slices.Clone(whole)
		flipped[at] ^= 1
		check(t, os.WriteFile(damaged, flipped, 0o644))
		expect.Refusal(t, short().trainer(t).Resume(damaged), damaged, ErrCorrupt)
		if what == "a moment" {
			continue // which prediction does not read
		}
		net, _, err := OpenNet(damaged, openCPU(t, 1))
		if err == nil {
			check(t, net.Close())
		}
		expect.Refusal(t, err, "", ErrCorrupt)
	}
}

func TestCheckpoint_HostileMetadataIsAnError(t *testing.T) {
	path := trained(t, short())
	c, err := ReadCheckpoint(path)
	expect.OK(t, err)
	for want, change := range map[string]func(*Checkpoint){
		"format is 2":             func(c *Checkpoint) { c.Format = 2 },
		"makes no sense":          func(c *Checkpoint) { c.Position.Epoch = -1 },
		"words for 36 classes":    func(c *Checkpoint) { c.Words = c.Words[:35] },
		"parameters in a file of": func(c *Checkpoint) { c.Model.Depths, c.Model.Widths = []int{1}, []int{1 << 20} },
		"layers for pictures":     func(c *Checkpoint) { c.Model.Depths = []int{1 << 20, 1, 1, 1} },
		"fc6-kernel is 0":         func(c *Checkpoint) { c.Model.FC6Kernel = 0 },
		"part of speech":          func(c *Checkpoint) { c.Words[4].POS = "XX" },
	} {
		var copied Checkpoint
		encoded, err := json.Marshal(c)
		check(t, err)
		check(t, json.Unmarshal(encoded, &copied))
		change(&copied)
		encoded, err = json.Marshal(copied)
		check(t, err)
		expect.Refusal(t, expect.ErrorOf(parseBytes(t, string(encoded))), want)
	}
	for _, encoded := range []string{"", "{", "[]", `{"format":1}`, "null"} {
		if _, err := parseBytes(t, encoded); err == nil {
			t.Errorf("metadata %q was accepted", encoded)
		}
	}
}

// parseBytes reads a file of one tensor with the given metadata of a checkpoint.
func parseBytes(t testing.TB, metadata string) (*Checkpoint, error) {
	t.Helper()
	var b bytes.Buffer
	err := safetensors.Write(&b, map[string]string{frame.Key: metadata},
		[]safetensors.Tensor{{Name: "x", Shape: []int{4}, Data: []float32{1, 2, 3, 4}}})
	if err != nil {
		t.Skip(err) // not UTF-8
	}
	f, err := safetensors.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	expect.OK(t, err)
	return frame.Parse(f)
}

func FuzzParseCheckpoint(f *testing.F) {
	f.Add(
		`{"format":1,"model":{"classes":1,"size":4,"depths":[1],"widths":[1],"fc6":1,"fc7":1,"fc6_kernel":1},` +
			`"words":[{"text":"a","pos":"NN"}],"stage":1,"position":{"epoch":1}}`)
	f.Add(
		`{"format":1,"model":{"classes":1,"size":4,"residual":"basic","depths":[1048576],"widths":[1]},` +
			`"words":[{"text":"a","pos":"NN"}],"stage":1,"position":{"epoch":1}}`)
	f.Add(`{"format":1,"stage":1,"position":{"epoch":1,"step":-3}}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, metadata string) {
		c, err := parseBytes(t, metadata)
		if err != nil {
			return
		}
		if _, err := c.Vocabulary(); err != nil || parameters(c.Model) > 4 {
			t.Errorf("accepted %q: %v", metadata, err)
		}
	})
}

func TestNew_RemovesWhatAKilledProcessLeft(t *testing.T) {
	r := short()
	r.directory = t.TempDir()
	for _, name := range []string{".last.safetensors12345", ".best.safetensors.link", "notes.txt"} {
		check(t, os.WriteFile(filepath.Join(r.directory, name), nil, 0o644))
	}
	r.trainer(t)
	if got := names(t, r.directory); !slices.Equal(got, []string{"notes.txt"}) {
		t.Errorf("left are %q", got)
	}
}

func names(t *testing.T, directory string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	check(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
