package run

import (
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/report"
	"nmn/run/internal/folder"
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
	if err := folder.Claim(dir, err, func() (key, was, is string) { return FirstChange(there, c) },
		isRunFile); err != nil {
		return err
	}
	return c.writeConfig(dir)
}

// RefuseInterrupted refuses a folder with a run that was interrupted and has no result yet.
func RefuseInterrupted(dir string) error {
	if durable.Exists(filepath.Join(dir, train.LastName)) && !durable.Exists(filepath.Join(dir, ResultFile)) {
		return setting.Errorf("run_dir",
			"%s holds a run that was interrupted: go on with `resume` %s, or name another `run_dir`", dir, dir)
	}
	return nil
}
