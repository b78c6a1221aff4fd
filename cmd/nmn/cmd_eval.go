package main

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/loader/dataset"
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

type evalCommand struct {
	config     run.Config
	sources    sources
	scores     eval.Files
	vocabulary string
	options    run.EvaluateOptions
	checkpoint run.Checkpoint
	classes    int
	shown      tablesOutput
}

func newEval(p *program) *cobra.Command {
	e := evalCommand{sources: newSources(), options: run.DefaultEvaluateOptions(), checkpoint: run.Last}
	cmd := &cobra.Command{
		Use:   "eval [MODEL]",
		Short: "Evaluate a model, or the scores of any program",
		Long: `Evaluate MODEL, a run folder or a checkpoint, on a split of its data. With --scores, evaluate
the scores of any program instead.`,
		Annotations: details(`The configuration comes from the run folder; --set changes it.

--scores takes a .csv or .npy file with a row for each picture and a column for each label. A
.csv file has the labels in its header and may name the pictures in a column "id". Compare the
scores with caption counts, observed labels or true labels in files of the same form.`),
		Example: `  nmn eval runs/fd
  nmn eval runs/fd --split train --format markdown
  nmn eval --scores logits.npy --logits --labels labels.npy --json`,
		Args: arguments(p, counted(0, 1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := e.evaluate(cmd, p, args)
			if err != nil || result == nil {
				return err
			}
			return e.show(p, result)
		},
	}
	model := under(cmd, "Model")
	checkpointFlag(model, &e.checkpoint)
	enum(model, &e.options.Split, "split", "evaluate this `split`", "train", "validation", "test")
	files := under(cmd, "Scores")
	files.file(&e.scores.Scores, "scores", "read the scores of any program from this `file`", "csv", "npy")
	files.file(&e.scores.Counts, "counts", "read how many captions mention each label from this `file`", "csv", "npy")
	files.file(&e.scores.Labels, "labels", "read observed labels from this `file`", "csv", "npy")
	files.file(&e.scores.Truth, "truth", "read true labels from this `file`", "csv", "npy")
	files.int(&e.scores.CaptionsPerSample, "captions-per-sample",
		"divide --counts by this many `captions` for each picture")
	files.file(&e.vocabulary, "vocab", "read the labels of the columns from this `file`", "txt")
	files.bool(&e.scores.Logits, "logits", "read scores as log-odds instead of probabilities")
	files.needs("scores", "counts", "captions-per-sample", "labels", "truth", "vocab", "logits")
	files.needs("counts", "captions-per-sample")
	m := under(cmd, "Measures")
	m.float(&e.options.Threshold, "threshold", "predict labels from this `probability`")
	m.float(&e.options.PlugIn, "plug-in", "also predict labels from this `probability`")
	m.int(&e.options.TopK, "top-k", "predict this many `labels` for the top-k measures")
	out := under(cmd, "Output")
	out.int(&e.classes, "classes", "also list this many best and worst `labels`", "[0,]")
	e.shown.flags(out)
	runSettings(cmd, &e.sources)
	return cmd
}

func (e *evalCommand) evaluate(cmd *cobra.Command, p *program, args []string) (*eval.Result, error) {
	if err := e.options.Validate(); err != nil {
		return nil, usageError{err}
	}
	switch {
	case e.scores.Scores != "" && len(args) > 0:
		return nil, usagef("eval: give a model or --scores, not both")
	case e.scores.Scores != "":
		return evaluateScores(e.scores, e.vocabulary, e.options.Options)
	case len(args) == 0:
		return nil, usagef("eval: name a run folder or a checkpoint, or give --scores")
	}
	return e.model(cmd, p, args[0])
}

// evaluateScores evaluates score files; vocabulary is a file, or empty to take the labels from the score files.
func evaluateScores(f eval.Files, vocabulary string, o eval.Options) (*eval.Result, error) {
	switch {
	case f.Counts == "" && f.Labels == "" && f.Truth == "":
		return nil, usagef("eval: --scores needs --counts with --captions-per-sample, --labels or --truth")
	case f.Counts != "" && f.CaptionsPerSample < 2:
		return nil, usagef("eval: --counts needs --captions-per-sample N, at least 2")
	}
	var v *text.Vocabulary
	if vocabulary != "" {
		var err error
		if v, err = text.ReadVocabulary(vocabulary); err != nil {
			return nil, err
		}
	}
	in, err := f.Read(v)
	if err != nil {
		return nil, err
	}
	return eval.Evaluate(in, o)
}

func (e *evalCommand) model(cmd *cobra.Command, p *program, path string) (result *eval.Result, err error) {
	ctx := cmd.Context()
	file, folder, err := run.FindCheckpoint(path, e.checkpoint)
	if err != nil {
		return nil, err
	}
	if err := e.sources.of().ResolveFolder(folder, &e.config); err != nil {
		return nil, err
	}
	e.options.Afresh = cmd.Flags().Changed("plug-in")
	if e.options.Split == "train" {
		e.config.Run.LabelMemory = dataset.HoldAll
	}
	s, err := openWatched(ctx, p, e.config, metricsOptions{}, func(o *run.Options) {
		o.Features, o.FeaturesTaken = run.FeaturesOf(filepath.Dir(file)), p.counted("features", "pictures")
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	m, err := s.OpenModel(file, e.checkpoint)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, m.Close()) }()
	return m.Evaluate(ctx, e.options)
}

func (e *evalCommand) show(p *program, r *eval.Result) error {
	if why := r.Unseparated(); why != "" {
		p.message(run.Message{Topic: "AP", Text: "shows nothing: " + why})
	}
	return e.shown.write(p, func() any { return r }, func() []*report.Table {
		tables := report.EvaluationTables(r)
		if e.classes > 0 {
			tables = append(tables, report.WordTables(r, e.classes)...)
			if rates := r.NoiseRates(); len(rates) > 0 {
				tables = append(tables, report.RateTables(rates, e.classes)...)
			}
		}
		return tables
	})
}
