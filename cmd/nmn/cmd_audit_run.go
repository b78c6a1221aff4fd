package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nmn/internal/durable"
	"nmn/internal/visible"
	"nmn/labels"
	"nmn/labels/audit"
	"nmn/recipe"
	"nmn/report"
	"nmn/run"
	runaudit "nmn/run/audit"
	"nmn/run/document"
	"nmn/text"
)

// checkRun refuses flags that do not apply to a run, and sets the defaults. audited is the argument of the
// user: the run or its data.
func (a *auditCommand) checkRun(cmd *cobra.Command, dir, audited string) error {
	files := []string{"scores", "truth", "logits"}
	if dir == audited {
		files = append(files, "labels") // for data it is a setting
	}
	if err := refuse(cmd, "is for score files, and "+audited+" has its own scores: leave out one", files...); err != nil {
		return err
	}
	if a.foldEpochs > 0 && !strings.HasPrefix(a.options.NoiseRates, recipe.FoldsOf) {
		return usagef("audit: --fold-epochs belongs to --noise-rates folds:N")
	}
	if !cmd.Flags().Changed("page") {
		a.page.file = filepath.Join(dir, runaudit.Folder, "audit.html")
	}
	a.onRun, a.page.title = true, filepath.Base(filepath.Clean(dir))
	if err := a.options.Estimation.Validate(); err != nil {
		return usageError{err}
	}
	return a.check(cmd)
}

// folds returns the number of folds of --noise-rates folds:N, 0 for none.
func (a *auditCommand) folds() (int, error) {
	number, ok := strings.CutPrefix(a.options.NoiseRates, recipe.FoldsOf)
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 2 || n > 1000 {
		return 0, usagef("audit: --noise-rates is %q, want folds:N with 2 to 1000 folds", a.options.NoiseRates)
	}
	return n, nil
}

func (a *auditCommand) auditRun(cmd *cobra.Command, p *program, dir string) error {
	if err := cmp.Or(refuse(cmd, "is for nmn audit DATA", flagsOfData...), a.checkRun(cmd, dir, dir)); err != nil {
		return err
	}
	if !cmd.Flags().Changed("device") {
		a.device = ""
	}
	return a.auditRunIn(cmd, p, dir)
}

// auditRunIn audits a run whose flags have been checked.
func (a *auditCommand) auditRunIn(cmd *cobra.Command, p *program, dir string) (err error) {
	ctx := cmd.Context()
	folds, err := a.folds()
	if err != nil {
		return err
	}
	w := &watch{program: p}
	r, err := runaudit.Open(ctx, dir, runaudit.Options{Options: run.Options{Log: p.log, Observer: w.observer()},
		Device: a.device, Threads: a.options.Estimation.Workers})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, r.Close()) }()
	if a.correction.Labels != "" {
		if err := cmp.Or(r.CheckLabelFile(ctx, a.correction.Labels), a.checkLabels(r)); err != nil {
			return err
		}
	}
	if r.Exclusive() {
		if err := refuseForClasses(cmd, dir); err != nil {
			return err
		}
	}
	var scores *runaudit.OutOfFold
	if folds == 0 {
		if scores, folds, err = a.scoresOf(ctx, p, r); err != nil {
			return err
		}
	}
	release, err := r.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if scores == nil {
		if scores, err = a.trainFolds(ctx, p, r, folds); err != nil {
			return err
		}
	}
	return a.rankRun(ctx, p, r, scores)
}

// checkLabels checks audit.EnoughToApply before nets are trained.
func (a *auditCommand) checkLabels(r *runaudit.Audit) error {
	if a.correction.Apply != labels.ApplyCareful || a.options.Decisions != "" {
		return nil
	}
	return audit.EnoughToApply(bytes.Count(r.Data().Train.Labels.Uint8s(), []byte{1}), 0, false)
}

// scoresOf returns the scores for the audit, or how many folds to train for them. If the run does not have scores of
// all bags and no flag selects what to do, it prints the choices and returns a mistake in usage.
func (a *auditCommand) scoresOf(ctx context.Context, p *program, r *runaudit.Audit) (scores *runaudit.OutOfFold,
	folds int, err error) {
	online := a.options.NoiseRates == recipe.Online
	if online {
		a.options.NoiseRates = ""
	}
	scores, err = r.Scores(ctx)
	switch {
	case err != nil, scores.Complete(), online && len(scores.Bags) > 0:
		return scores, 0, err
	case a.onData:
		return nil, r.DefaultFolds(), nil
	}
	a.offer(p, r, len(scores.Bags))
	if len(scores.Bags) == 0 {
		return nil, 0, usagef("audit: %s has no out-of-fold scores, which an audit needs; type one of these commands", r.Dir)
	}
	return nil, 0, usagef("audit: %s has out-of-fold scores of %d of %d training %s; type one of these commands", r.Dir,
		len(scores.Bags), scores.All, r.Data().Train.Noun())
}

// offer prints the commands that compute scores, with their cost.
func (a *auditCommand) offer(p *program, r *runaudit.Audit, scored int) {
	dir := argument(r.Dir)
	bags := r.Data().Train.Len()
	noun := r.Data().Train.Noun()
	fmt.Fprintf(p.status, "Nets of folds can score all %d training %s, each with a net that was not trained on it:\n",
		bags, noun)
	for _, folds := range []int{r.DefaultFolds(), 7 - r.DefaultFolds()} { // 2 and 5
		if folds > bags {
			continue
		}
		o := r.Offer(folds, 0)
		line := fmt.Sprintf("%s, each %s on %d of %d %s%s", text.Count(folds, "folds"), text.Count(o.Epochs, "epochs"),
			bags-bags/folds, bags, noun, about(", ", o.Time))
		if r.Interrupted(folds) {
			line += "; already begun"
		}
		fmt.Fprintf(p.status, "%s:\n  nmn audit %s --noise-rates folds:%d\n", line, dir, folds)
	}
	if scored > 0 {
		fmt.Fprintf(p.status, "You can also audit only the %d %s that were scored before training:\n"+
			"  nmn audit %s --noise-rates online\n", scored, noun, dir)
	}
}

// about returns a time after a separator, or nothing if it is not known.
func about(separator string, d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return separator + "about " + brief(max(d, time.Second))
}

// argument quotes an argument for a shell.
func argument(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return visible.Line(s)
	}
	return "'" + strings.ReplaceAll(visible.Line(s), "'", `'\''`) + "'"
}

// trainFolds prints the cost of nets of folds and trains them.
func (a *auditCommand) trainFolds(ctx context.Context, p *program, r *runaudit.Audit, folds int) (
	*runaudit.OutOfFold, error) {
	o := r.Offer(folds, a.foldEpochs)
	p.message(run.Message{Topic: "folds", Text: fmt.Sprintf("nets of %s, %s each, unless already trained%s",
		text.Count(folds, "folds"), text.Count(o.Epochs, "epochs"), about(": ", o.Time))})
	a.options.NoiseRates = ""
	scores, err := r.TrainFolds(ctx, o)
	if errors.Is(err, run.ErrInterrupted) {
		return nil, fmt.Errorf("%w; continue with: nmn audit %s --noise-rates folds:%d", err, argument(r.Dir), folds)
	}
	return scores, err
}

// rankRun ranks the labels of the bags with scores, and writes and prints the findings.
func (a *auditCommand) rankRun(ctx context.Context, p *program, r *runaudit.Audit, scores *runaudit.OutOfFold) error {
	p.message(run.Message{Topic: "scores", Text: fmt.Sprintf("%d of %d training %s, from %s", len(scores.Bags), scores.All,
		r.Data().Train.Noun(), scores.From)})
	if r.HasPictures() && a.page.images == "" {
		a.page.ofRun = r.Picture
	}
	if r.Exclusive() {
		return a.rankClasses(ctx, p, r, scores)
	}
	a.options.Estimation.Progress = p.counted("noise rates", "iterations")
	if a.verified != "" {
		if err := r.Verify(ctx, a.verified); err != nil {
			return err
		}
	}
	found, err := r.Rank(ctx, scores, a.options)
	p.status.clear()
	if err != nil {
		return err
	}
	var written *runaudit.Corrected
	a.correction.Write = func(corrected []uint8) (err error) {
		written, err = r.WriteLabels(ctx, found, corrected, a.correction.Labels)
		return err
	}
	if err := a.finish(ctx, p, found); err != nil {
		return err
	}
	a.tellNext(p, r, len(found.Suspects), written)
	return nil
}

// tellNext prints what was written, and the next command.
func (a *auditCommand) tellNext(p *program, r *runaudit.Audit, suspects int, written *runaudit.Corrected) {
	if a.page.file != "" {
		p.message(run.Message{Topic: "page", Text: a.page.file})
	}
	a.tellCaptions(p, r)
	dir := argument(r.Dir)
	switch {
	case written != nil:
		text := a.correction.Labels + ": " + written.Form
		if written.Rows >= 0 {
			text += fmt.Sprintf(", %d changed rows", written.Rows)
		}
		if written.Note != "" {
			text += "; " + written.Note
		}
		p.message(run.Message{Topic: "labels", Text: text, Always: written.Lost})
		if written.Config != "" {
			p.message(run.Message{Topic: "next", Text: fmt.Sprintf("nmn train --config %s --run-dir %s",
				argument(written.Config), argument(filepath.Clean(r.Dir)+"-corrected"))})
		}
	case suspects > 0 && a.page.file != "":
		p.message(run.Message{Topic: "next", Text: fmt.Sprintf("review the page, save decisions.csv, then nmn audit %s "+
			"--decisions decisions.csv --output %s", dir, r.LabelFileName())})
	}
}

// tellCaptions prints what a run found about its captions, and the command that audits captions: this audit is
// about the words in them.
func (a *auditCommand) tellCaptions(p *program, r *runaudit.Audit) {
	data := &r.Config().Data
	if !data.Captioned() {
		return
	}
	var lines []string
	if o, err := run.ReadOutcome(r.Dir); err == nil && o != nil && o.Captions != nil {
		lines = append(o.Captions.Lines(), "the run shows them in "+filepath.Join(r.Dir, report.HTMLFile))
	}
	if command := captionCommand(r.Dir, data); command != "" {
		lines = append(lines, "this audit is about words; "+command+" audits whole captions")
	}
	if len(lines) > 0 {
		p.message(run.Message{Topic: "captions", Text: strings.Join(lines, "\n        ")})
	}
}

// holdsRun reports whether a folder belongs to a run or an experiment.
func holdsRun(dir string) bool {
	return durable.Exists(filepath.Join(dir, run.ConfigFile)) || durable.Exists(filepath.Join(dir, run.IndexFile))
}

// auditData trains on data like nmn train and audits the run. The same command continues an interrupted run,
// and does not train again for a correction.
func (a *auditCommand) auditData(cmd *cobra.Command, p *program, data string) error {
	t := trainCommand{program: p, sources: a.sources, runDir: a.runDir, metrics: newMetricsOptions(p)}
	for _, flag := range []struct{ name, value string }{
		{"labels", a.files.Labels}, {"images", a.page.images}, {"device", a.device},
	} {
		if !cmd.Flags().Changed(flag.name) {
			continue
		}
		if err := (&settingFlag{&t.sources.settings, flag.name, flagKeys[flag.name]}).Set(flag.value); err != nil {
			return err
		}
	}
	a.page.images, a.device = "", ""
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
	a.onData = true
	return a.auditRunIn(cmd, p, t.runDir)
}
