package main

import (
	"context"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
	"nmn/recipe"
	"nmn/run"
)

// holdsRun reports whether a folder belongs to a run or an experiment.
func holdsRun(dir string) bool {
	return durable.Exists(filepath.Join(dir, run.ConfigFile)) || durable.Exists(filepath.Join(dir, run.IndexFile))
}

// auditData trains on data like nmn train and audits the run. The same command continues an interrupted run,
// and does not train again for a correction.
func (a *auditCommand) auditData(ctx context.Context, p *program, data string, given func(string) bool) error {
	t := trainCommand{sources: a.ofData.sources, runDir: a.ofData.runDir, metrics: newMetricsOptions(p)}
	for _, flag := range []struct{ name, value string }{
		{"labels", a.files.Labels}, {"images", a.page.images}, {"device", a.ofRun.device},
	} {
		if !given(flag.name) {
			continue
		}
		if err := (&settingFlag{&t.sources.settings, flag.name, flagKeys[flag.name]}).Set(flag.value); err != nil {
			return err
		}
	}
	a.page.images = ""
	if r := a.options.NoiseRates; r == recipe.Online || strings.HasPrefix(r, recipe.FoldsOf) {
		if err := t.sources.take(run.TextSetting("noise_rates", r, false)); err != nil {
			return err
		}
		if r != recipe.Online {
			a.options.NoiseRates = "" // the run leaves the scores of its folds
		}
	}
	left := func(name string) bool { return given(name) && name != "labels" && name != "images" && name != "device" }
	if left("fold-epochs") {
		return usagef("audit: --fold-epochs is for a run; for data use --set recipe.fold_epochs=N")
	}
	if err := a.checkRun(t.runDir, data, left); err != nil {
		return err
	}
	if err := t.resolve(ctx, p, []string{data}); err != nil {
		return err
	}
	if _, err := t.trainInFolder(ctx, p); err != nil {
		return err
	}
	a.ofData.on = true
	return a.auditRunIn(ctx, p, t.runDir, left)
}
