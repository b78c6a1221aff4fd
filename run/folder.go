package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/train"
)

// Files of a run folder, beside the checkpoints of package train and the page of package report.
const (
	ConfigFile     = "config.yaml"
	VocabularyFile = "vocabulary.txt"
	ResultFile     = "result.json" // written last: where it is, the run is complete

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

// isRunFile reports whether a name is one of the files of a run folder that are written aside, but for checkpoints.
func isRunFile(name string) bool {
	switch name {
	case ConfigFile, VocabularyFile, ResultFile, EpochsFile, dataset.FlipsFile, dataset.ValidationFlipsFile, LogFile,
		SummaryFile, report.PageFile, report.HTMLFile, report.CurvesFile, report.RatesFile, ShownFile, IndexFile,
		recipe.FoldsFile, recipe.OnlineFile, recipe.ScoresFile, recipe.NoisyScoresFile, recipe.LabelsFile, recipe.TruthFile,
		recipe.RatesFile, recipe.SuspectsFile, recipe.PageFile:
		return true
	}
	return recipe.EpochName.MatchString(name)
}

// PrepareFolder makes a folder for a run. A folder with another run is refused.
func PrepareFolder(dir string, c *Config) error {
	there, err := ReadConfig(dir)
	if err := ClaimFolder(dir, err, func() (key, was, is string) { return FirstChange(there, c) },
		isRunFile); err != nil {
		return err
	}
	return c.writeConfig(dir)
}

// ClaimFolder makes a folder for a run, or takes the one that it has. found is the error of reading the
// configuration there; where it was read, changed names the setting that this run has otherwise, which is refused.
// What a killed process left of our files is removed.
func ClaimFolder(dir string, found error, changed func() (key, was, is string), ours func(name string) bool) error {
	switch {
	case errors.Is(found, fs.ErrNotExist):
	case found != nil:
		return found
	default:
		if key, was, is := changed(); key != "" {
			return setting.Errorf("run_dir",
				"%s holds another run: its %s is %s, this one's %s; name another `run_dir`, or remove that folder", dir,
				key, was, is)
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
		return setting.Errorf("run_dir",
			"%s holds a run that was interrupted: go on with `resume` %s, or name another `run_dir`", dir, dir)
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
