package run

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"nmn/internal/durable"
	"nmn/internal/lock"
	"nmn/internal/origin"
	"nmn/internal/setting"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run/document"
	"nmn/run/folder"
	"nmn/train"
)

// Files of a run folder, in addition to the checkpoints of package train and the page of package report.
const (
	ConfigFile     = "config.yaml"
	VocabularyFile = "vocabulary.txt"
	ResultFile     = folder.ResultFile // written last: where it is, the run is complete

	// DataFile lists the files that the run learns from: those that settings name with the SHA-256 of their content, and
	// pictures and shards of frames with size and time.
	DataFile = folder.DataFile

	IndexFile = "index.html" // the page of an experiment

	Stage1Folder = "stage1" // folder of the first stage of an arm of the second
	RecipeFolder = "recipe" // folder of the folds, and of what they have found
)

// ReadConfig reads the configuration of a run folder.
func ReadConfig(dir string) (*Config, error) {
	var c Config
	if err := ReadConfigInto(dir, &c); err != nil {
		return nil, err
	}
	if c.Build != nil {
		c.places().ComeFrom(c.Build.Folder, dir)
	}
	return &c, nil
}

// ReadConfigInto reads the configuration of the folder of a run of any kind; config points to a struct of it.
func ReadConfigInto(dir string, config any) error {
	file, err := document.Read(filepath.Join(dir, ConfigFile))
	if err != nil {
		return err
	}
	return file.Decode(config)
}

// places are all of its files and folders. NoiseRates may be a word, and are compared as they are.
func (c *Config) places() folder.Places { return setting.Paths("", c) }

// save writes the configuration with the versions of a program.
func (c Config) save(dir string, b Build) error {
	return SaveConfigOf(dir, b, func(b *Build) ([]byte, error) { c.Build = b; return c.YAML() })
}

// SaveConfigOf writes the configuration of a run of any kind, which text makes with the program that has resolved it.
// Relative paths in it are taken from here.
func SaveConfigOf(dir string, b Build, text func(*Build) ([]byte, error)) (err error) {
	if b.Folder, err = os.Getwd(); err != nil {
		return err
	}
	data, err := text(&b)
	if err != nil {
		return err
	}
	return durable.Save(filepath.Join(dir, ConfigFile), data)
}

// runFiles are the files of a run folder, without checkpoints. recipeFiles are the files of the folder of a
// recipe, with the folders of its rounds. Nets of folds have the files of a run and the scores of epochs.
var (
	runFiles = []string{ConfigFile, DataFile, LeftOutFile, VocabularyFile, ResultFile, EpochsFile, dataset.FlipsFile,
		dataset.ValidationFlipsFile, LogFile, report.HTMLFile, report.RatesFile}
	recipeFiles = []string{ConfigFile, DataFile, LeftOutFile, recipe.FoldsFile, recipe.OnlineFile, recipe.ScoresFile,
		recipe.NoisyScoresFile, recipe.LabelsFile, recipe.TruthFile, recipe.RatesFile, recipe.TransitionFile,
		recipe.SuspectsFile, recipe.PageFile, recipe.CaptionScoresFile, recipe.PlainRound, recipe.NoisyRound,
		recipe.CaptionsFolder}
)

// isRunFile reports whether a name is one of the files of a run folder that are written aside, but for checkpoints.
func isRunFile(name string) bool {
	return slices.Contains(runFiles, name) || slices.Contains(recipeFiles, name) || name == IndexFile ||
		recipe.EpochName.MatchString(name)
}

// ofRun is the folder of a run of one arm, ofRecipe that of a recipe.
var (
	ofRun = folder.Kind{Config: ConfigFile, Writes: func(name string) bool {
		return slices.Contains(runFiles, name) || train.IsCheckpoint(name)
	}}
	ofRecipe = folder.Kind{Config: ConfigFile, Writes: func(name string) bool {
		return slices.Contains(recipeFiles, name)
	}}
)

// checkFolder refuses a folder with another run, or one without any in which files would be overwritten.
func checkFolder(dir string, kind folder.Kind, c *Config) error {
	there, err := ReadConfig(dir)
	return folder.Check(dir, kind, err, folder.Found{
		Written: func() bool { return there.Build != nil },
		Changed: func() (key, was, is string) { return FirstChange(there, c) },
	})
}

// ErrLocked is wrapped by errors about a run folder that another process is writing.
var ErrLocked = lock.ErrHeld

// LockFolder is Ranks.Lock for this process alone.
func LockFolder(ctx context.Context, dir string, log *slog.Logger) (release func() error, err error) {
	return folder.Lock(ctx, dir, log)
}

// TidyLock removes the locks of a folder, in it and next to it, if the process that held them has died. A lock that is
// held stays.
func TidyLock(dir string) error {
	return errors.Join(lock.Tidy(filepath.Join(dir, folder.LockFile)), lock.Tidy(folder.NextTo(dir)))
}

// SaveFiles is Ranks.Save for this process alone.
func SaveFiles(ctx context.Context, log *slog.Logger, write func() error) error {
	return durable.Patiently(ctx, durable.WarnFull(log), write)
}

// RefuseForeign refuses a folder that holds one of the files or folders in written, but not mark, which a run
// always makes first: such a folder belongs to another program.
func RefuseForeign(dir, mark string, written ...string) error {
	if durable.Exists(filepath.Join(dir, mark)) {
		return nil
	}
	writes := func(name string) bool { return slices.Contains(written, name) }
	return folder.Check(dir, folder.Kind{Config: mark, Writes: writes}, fs.ErrNotExist, folder.Found{})
}

// clearFolder removes the run in a folder. What no run has written stays, and so do a backbone's features, which do not
// depend on the run.
func clearFolder(dir string) error {
	there, err := ReadConfig(dir)
	written := func() bool { return there.Build != nil }
	var below []string
	if err == nil {
		below = foldersOf(dir, there)
	}
	return folder.Clear(dir, ofRun, err, folder.Found{Written: written}, below...)
}

// foldersOf names the folders that a run has made in its own: people may have folders of these names too.
func foldersOf(dir string, c *Config) (names []string) {
	for _, name := range []string{Stage1Folder, RecipeFolder, recipe.CaptionsFolder} {
		if its, err := ReadConfig(filepath.Join(dir, name)); err == nil && its.Build != nil {
			names = append(names, name)
		}
	}
	if c.Arm == recipe.EM {
		names = append(names, recipe.EMFolder)
	}
	if c.Run.TensorBoard {
		names = append(names, TensorBoardFolder)
	}
	return names
}

// keepPlaces notes in the configuration of a complete run where its files lie now.
func (c *Config) keepPlaces(dir string) error {
	there, err := ReadConfig(dir)
	if err != nil || !there.places().Take(c.places()) {
		return err
	}
	return there.save(dir, *there.Build)
}

// files are those that a run of the configuration learns from: its data, and the rates and weights that it starts from.
func (c *Config) files(ctx context.Context, d *dataset.Splits) (origin.List, error) {
	data, err := d.Files(ctx, c.Run.VerifyData)
	if err != nil {
		return nil, err
	}
	var more []origin.Place
	for _, p := range []struct{ key, file string }{
		{"net.weights", c.Net.Weights}, {"net.backbone", c.Net.Backbone}, {"stage1", c.Stage1},
		{"noise_rates", c.Settings().RatesFile()},
	} {
		if p.file != "" {
			more = append(more, origin.Place{Name: p.key, Path: p.file})
		}
	}
	start, err := d.Beside(ctx, more)
	return append(data[:len(data):len(data)], start...), err
}

// runFolder is the folder of a run, and what the run in it learns from.
type runFolder struct {
	dir    string
	kind   folder.Kind
	config *Config
	data   *dataset.Splits
	ranks  *Ranks
}

// sameData refuses a folder whose run began with other files than there are now, and returns the list to keep there.
func (f *runFolder) sameData(ctx context.Context) (origin.List, error) {
	if !f.ranks.leads() { // the ranks have been compared
		return nil, nil
	}
	now, err := f.config.files(ctx, f.data)
	if err != nil {
		return nil, err
	}
	kept, err := folder.SameData(ctx, f.dir, now)
	if err != nil || kept.Unread() == 0 {
		return kept, err
	}
	read := f.data.FileEnds
	if kept.Unread() <= notedBytes {
		read = func(ctx context.Context) (origin.List, error) { return f.data.Files(ctx, true) }
	}
	noted, err := read(ctx)
	return kept.With(noted), err
}

// notedBytes are the most bytes of pictures and frames whose whole content is noted when a run begins. Reading them
// takes some seconds, and the first epoch finds them in memory. The ends of the files are noted if there is more. With
// either, a run goes on even if the times of files have changed, as by a copy.
const notedBytes = 2 << 30

// prepare makes the folder, or takes an existing one. It refuses with a *ConfigError a folder that holds another run, a
// run that began with other files, or files of the user under names that the run writes.
func (f *runFolder) prepare(ctx context.Context) error {
	err := checkFolder(f.dir, f.kind, f.config)
	var files origin.List
	if err == nil {
		files, err = f.sameData(ctx)
	}
	if err := f.ranks.agree(err); err != nil {
		return err
	}
	return f.ranks.Save(ctx, func() error {
		if err := folder.Claim(f.dir, isRunFile); err != nil {
			return err
		}
		// The configuration comes first: without it the other files would count as the user's.
		if err := f.config.save(f.dir, ThisBuild()); err != nil {
			return err
		}
		return errors.Join(folder.KeepData(f.dir, files), keepLeftOut(f.dir, f.data))
	})
}

func (s *Session) folder(dir string, kind folder.Kind) *runFolder {
	return &runFolder{dir: dir, kind: kind, config: &s.Config, data: s.Data, ranks: s.Ranks}
}

// SameData refuses a folder whose run began with other files than the session has.
func (s *Session) SameData(ctx context.Context, dir string) error {
	_, err := s.folder(dir, ofRun).sameData(ctx)
	return err
}

// PrepareFolder makes a folder for runs of the session's data, or takes an existing one. It refuses with a *ConfigError
// a folder that holds another run, a run that began with other files, or files of the user under the names of written.
func (s *Session) PrepareFolder(ctx context.Context, dir string, written ...string) error {
	writes := func(name string) bool {
		return name == ConfigFile || name == DataFile || name == LeftOutFile || slices.Contains(written, name)
	}
	return s.folder(dir, folder.Kind{Config: ConfigFile, Writes: writes}).prepare(ctx)
}

// mayChange are the settings that a run may be continued with, for they change no step.
var mayChange = []string{
	"run.", "build.", "chosen", "size", "data.max_bad_samples", "train.stage1_epochs", "train.stage2_epochs",
	"train.max_steps",
	"train.log_steps", "train.evaluate_", "train.checkpoint_", "train.keep_best",
}

// convExact is the one setting below run. that may not change: it changes the last bits of every step, on the same
// machine.
const convExact = "run.conv_exact"

// gradients is another: it changes what several ranks learn.
const gradients = "run.gradients"

// FirstChange finds the first setting that makes two configurations different runs.
func FirstChange(a, b *Config) (key, was, is string) {
	x, y := folder.Flatten(a), folder.Flatten(b)
	a.places().Hide(x, y)
	for _, values := range []map[string]string{x, y} {
		values[gradients] = cmp.Or(values[gradients], GradientsFP32)
	}
	return folder.ChangedKey(x, y, mayChange, convExact, gradients)
}
