package run

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/kernels/tensor"
	"nmn/labels"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// Files of a run folder, beside the checkpoints of package train and the page of package report.
const (
	ConfigFile     = "config.yaml"
	VocabularyFile = "vocabulary.txt"
	ResultFile     = "result.json" // written last: it tells that the run is complete

	IndexFile = "index.html" // the page of an experiment

	Stage1Folder = "stage1" // folder of the first stage of an arm of the second
	RecipeFolder = "recipe" // folder of the folds, and of what they have found
)

// Outcome is what a complete run has found.
type Outcome struct {
	Fingerprint string           `json:"fingerprint"` // of configuration and data
	Arm         recipe.Name      `json:"arm"`
	MIL         bool             `json:"mil"`
	Noise       float64          `json:"noise"` // share of replaced captions
	Flips       labels.FlipRates `json:"flips"` // of labels
	Seed        uint64           `json:"seed"`
	Steps       int              `json:"steps"`
	Loss        float64          `json:"loss"` // of the last step
	Seconds     float64          `json:"seconds"`
	Split       string           `json:"split"` // that the evaluation is of
	recipe.Judgement
	// Threshold is the probability from which to predict a label, told from out-of-fold scores; nil where
	// there are none.
	Threshold *float64 `json:"threshold,omitempty"`
	// Before is the length of stage 1, where the epochs of this run include it and it is fixed.
	Before int   `json:"stage1_epochs,omitempty"`
	Build  Build `json:"build"`

	epochs []EpochFigures // from a file of their own; nil where none were asked for
}

// ReadOutcome reads the result of a folder; nil where there is none.
func ReadOutcome(dir string) (*Outcome, error) {
	return durable.LoadJSON[Outcome](filepath.Join(dir, ResultFile), "remove the file to evaluate again")
}

func (o *Outcome) write(dir string) error {
	return durable.SaveJSON(filepath.Join(dir, ResultFile), o)
}

// ReadConfig reads the configuration of a run folder.
func ReadConfig(dir string) (*Config, error) {
	var c Config
	if err := ReadConfigInto(dir, &c); err != nil {
		return nil, err
	}
	return &c, nil
}

// ReadConfigInto reads the configuration of the folder of a run of any kind; config points to a struct of it.
func ReadConfigInto(dir string, config any) error {
	file, err := ReadDocument(filepath.Join(dir, ConfigFile))
	if err != nil {
		return err
	}
	return file.Decode(config)
}

// writeConfig writes the configuration with the versions of the program.
func (c Config) writeConfig(dir string) error {
	b := ThisBuild()
	c.Build = &b
	data, err := c.YAML()
	if err != nil {
		return err
	}
	return durable.Save(filepath.Join(dir, ConfigFile), data)
}

// isRunFile tells the files of a run folder that are written aside, but for checkpoints.
func isRunFile(name string) bool {
	switch name {
	case ConfigFile, VocabularyFile, ResultFile, EpochsFile, dataset.FlipsFile, dataset.ValidationFlipsFile, LogFile, SummaryFile, report.PageFile, report.HTMLFile, report.CurvesFile, report.RatesFile, ShownFile, IndexFile,
		recipe.FoldsFile, recipe.OnlineFile, recipe.ScoresFile, recipe.NoisyScoresFile, recipe.LabelsFile, recipe.TruthFile, recipe.RatesFile, recipe.SuspectsFile, recipe.PageFile:
		return true
	}
	return recipe.EpochName.MatchString(name)
}

// PrepareFolder makes a folder for a run. A folder with another run is refused.
func PrepareFolder(dir string, c *Config) error {
	there, err := ReadConfig(dir)
	if err := ClaimFolder(dir, err, func() (key, was, is string) { return FirstChange(there, c) }, isRunFile); err != nil {
		return err
	}
	return c.writeConfig(dir)
}

// ClaimFolder makes a folder for a run, or takes the one that it has. found is the error of reading the
// configuration there; where it was read, changed tells what this run has otherwise, which is refused. What a
// killed process left of our files is removed.
func ClaimFolder(dir string, found error, changed func() (key, was, is string), ours func(name string) bool) error {
	switch {
	case errors.Is(found, fs.ErrNotExist):
	case found != nil:
		return found
	default:
		if key, was, is := changed(); key != "" {
			return setting.Errorf("run_dir", "%s holds another run: its %s is %s, this one's %s; name another `run_dir`, or remove that folder", dir, key, was, is)
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return removeLeftovers(dir, ours)
}

// RefuseInterrupted refuses a folder with a run that was interrupted and has no result yet.
func RefuseInterrupted(dir string) error {
	if durable.Exists(filepath.Join(dir, train.LastName)) && !durable.Exists(filepath.Join(dir, ResultFile)) {
		return setting.Errorf("run_dir", "%s holds a run that was interrupted: go on with `resume` %s, or name another `run_dir`", dir, dir)
	}
	return nil
}

// removeLeftovers deletes what a killed process left of our files that it was writing aside; the trainers do
// so for their checkpoints.
func removeLeftovers(dir string, ours func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		target, aside := durable.Target(e.Name())
		if !aside || !ours(target) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("cannot remove an unfinished file: %w", err)
		}
	}
	return nil
}

// mayChange are the settings that a run may be continued with, for they change no step.
var mayChange = []string{
	"run.", "build.", "size", "data.max_bad_samples", "train.stage1_epochs", "train.stage2_epochs", "train.max_steps", "train.log_steps",
	"train.evaluate_", "train.checkpoint_", "train.keep_best",
}

// convExact is the one setting of a room that may change which may not: it changes the last bits of every
// step, on the same machine.
const convExact = "run.conv_exact"

// FirstChange finds the first setting that makes two configurations different runs.
func FirstChange(a, b *Config) (key, was, is string) {
	return ChangedKey(Flatten(a), Flatten(b), mayChange)
}

// ChangedKey finds the first key in which two flat configurations differ, but for those with one of the free
// prefixes.
func ChangedKey(x, y map[string]string, free []string) (key, was, is string) {
	all := maps.Clone(x)
	maps.Copy(all, y) // what is not set is left out of either
	for _, k := range SortedKeys(all) {
		isFree := func(prefix string) bool { return strings.HasPrefix(k, prefix) && k != convExact }
		if x[k] != y[k] && !slices.ContainsFunc(free, isFree) {
			return k, orEmpty(x[k]), orEmpty(y[k])
		}
	}
	return "", "", ""
}

func orEmpty(s string) string {
	if s == "" {
		return "empty"
	}
	return s
}

const formKey = "recipe.form"

// Flatten maps the path of each value of a configuration, such as data.noise, to the value.
func Flatten(c any) map[string]string {
	out := map[string]string{}
	var root yaml.Node
	if err := root.Encode(c); err != nil {
		return out // a configuration is plain values
	}
	var walk func(path string, n *yaml.Node)
	walk = func(path string, n *yaml.Node) {
		switch {
		case n.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(path+"."+n.Content[i].Value, n.Content[i+1])
			}
		case n.Kind == yaml.SequenceNode:
			for i, item := range n.Content {
				walk(fmt.Sprintf("%s[%d]", path, i), item)
			}
		default:
			out[strings.TrimPrefix(path, ".")] = n.Value
		}
	}
	walk("", &root)
	switch out[formKey] {
	case string(recipe.Paper): // runs of before there was a choice do not say so
		delete(out, formKey)
	case string(recipe.Estimate): // under its old name, by which runs are known
		out[formKey] = string(recipe.CrossFit)
	}
	return out
}

func SortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// fingerprint identifies what a run computes: its configuration but for what changes no result, its
// data, and the checkpoint that it starts from. Exact convolutions count. A precision other than fp32 counts, so that a finished
// result is never shown as one of another precision. It does not keep a run from being resumed
// (mayChange): checkpoints hold float32, and to go on with them on another device, where the precision may
// be another one, is the user's choice.
func fingerprint(ctx context.Context, c *Config, d *dataset.Splits, from string) (string, error) {
	h := sha256.New()
	HashText(h, recipe.JudgementForm)
	values := Flatten(c)
	for _, k := range SortedKeys(values) {
		if !strings.HasPrefix(k, "run.") && !strings.HasPrefix(k, "build.") && k != "train.log_steps" {
			HashText(h, k)
			HashText(h, values[k])
		}
	}
	if c.Run.ConvExact {
		HashText(h, convExact)
	}
	if p := c.Run.Precision; p != tensor.Auto && p != tensor.FP32 {
		HashText(h, string(p))
	}
	judged, name := d.Judged()
	HashText(h, name)
	for _, set := range []*loader.Set{d.Train, judged} {
		if err := hashSet(ctx, h, set); err != nil {
			return "", err
		}
	}
	if from != "" {
		start, err := train.ReadCheckpoint(from)
		if err != nil {
			return "", err
		}
		data, err := json.Marshal(start)
		if err != nil {
			return "", err
		}
		HashText(h, string(data))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func HashText(h hash.Hash, s string) {
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}

// hashSet takes in what a set is to a run: its census, and its truth where that is in memory.
func hashSet(ctx context.Context, h hash.Hash, set *loader.Set) error {
	census, err := set.Census(ctx)
	if err != nil {
		return err
	}
	h.Write(census.Digest[:])
	if set.Truth != nil {
		h.Write(set.Truth.Uint8s())
	}
	return nil
}
