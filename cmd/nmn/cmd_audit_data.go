package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/recipe"
	"nmn/run"
	"nmn/run/document"
)

// holdsRun reports whether a folder belongs to a run or an experiment.
func holdsRun(dir string) bool {
	return durable.Exists(filepath.Join(dir, run.ConfigFile)) || durable.Exists(filepath.Join(dir, run.IndexFile))
}

// auditData trains on data like nmn train and audits the run. The same command continues an interrupted run,
// and does not train again for a correction.
func (a *auditCommand) auditData(cmd *cobra.Command, p *program, data string) error {
	t := trainCommand{program: p, sources: a.ofData.sources, runDir: a.ofData.runDir, metrics: newMetricsOptions(p)}
	for _, flag := range []struct{ name, value string }{
		{"labels", a.files.Labels}, {"images", a.page.images}, {"device", a.ofRun.device},
	} {
		if !cmd.Flags().Changed(flag.name) {
			continue
		}
		if err := (&settingFlag{&t.sources.settings, flag.name, flagKeys[flag.name]}).Set(flag.value); err != nil {
			return err
		}
	}
	a.page.images, a.ofRun.device = "", ""
	if a.verified != "" {
		if err := t.sources.take(document.TextSetting("data.verified", a.verified, false)); err != nil {
			return err
		}
		a.verified = ""
	}
	if r := a.options.NoiseRates; r == recipe.Online || strings.HasPrefix(r, recipe.FoldsOf) {
		if err := t.sources.take(document.TextSetting("noise_rates", r, false)); err != nil {
			return err
		}
		if r != recipe.Online {
			a.options.NoiseRates = "" // the run leaves the scores of its folds
		}
	}
	if err := refuse(cmd, "is for a run; for data use --set recipe.fold_epochs=N", "fold-epochs"); err != nil {
		return err
	}
	if err := a.checkRun(cmd, t.runDir, data); err != nil {
		return err
	}
	if err := t.resolve(cmd.Context(), []string{data}); err != nil {
		return err
	}
	if err := t.train(cmd, nil); err != nil {
		return err
	}
	a.ofData.on = true
	return a.auditRunIn(cmd, p, t.runDir)
}
