package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"nmn/internal/visible"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/run"
)

type predictFormat string

const (
	predictText predictFormat = "text"
	predictJSON predictFormat = "json"
	predictCSV  predictFormat = "csv"
)

// predictCommand are the flags of nmn predict.
type predictCommand struct {
	run        run.Resources
	checkpoint run.Checkpoint
	options    run.PredictOptions
	format     predictFormat
	output     string
	asJSON     bool
}

func newPredict(p *program) *cobra.Command {
	c := predictCommand{run: run.DefaultConfig().Run, checkpoint: run.Last, options: run.DefaultPredictOptions(),
		format: predictText}
	cmd := &cobra.Command{
		Use:   "predict MODEL PATH...",
		Short: "Tell the words of pictures, clips or features",
		Long: `Tell which words hold for pictures, with their probabilities. MODEL is a run folder or a
checkpoint; each PATH a picture (JPEG, PNG, GIF, WebP, BMP, TIFF) or a folder, which is searched for
pictures; files in it with other names are counted on standard error, and in JSON marked
"skipped". Pictures are turned and resized as in training (docs/guide/pictures.md).
For a model of clips, each PATH is a video, or a folder that is searched for videos and for
folders of frames; each clip has one answer. Frames of videos are taken by ffmpeg 5.1 or newer,
as those that the model has learned (docs/guide/video.md).
For a model on features, PATH is one file of them, as nmn train --features takes it; labels
in it are not read.
Words are those whose probability p(y=1) reaches the threshold: by default the one that
the run has kept with its model (recipe.form estimate does), else the one that
gives the best expected F1 on these pictures (it needs a hundred or so to mean much), said
on standard error. CSV has every word of every picture, and nmn eval --scores reads it;
pictures of one folder are named there by their path in it. In CSV and JSON a byte of a name
that is not UTF-8 is written as \x and two hexadecimal digits, and so is a backslash before
such an escape; in text also what would not show, such as \x1b.`,
		Example: `  nmn predict runs/fd holiday/ --top 5
  nmn predict runs/fd photo.jpg --threshold 0.3 --json
  nmn predict runs/fd pictures/ --format csv > scores.csv
  nmn predict runs/clips holiday.mp4 frames/
  nmn predict runs/mine new.npy --output p.npy`,
		Args: arguments(p, cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.predict(cmd.Context(), p, args[0], args[1:]) },
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &c.checkpoint)
	m.bool(&c.options.Observed, "observed",
		"tell p(z=1), that people would say the word, instead of p(y=1), that it holds")
	w := under(cmd, "Words")
	w.int(&c.options.Top, "top",
		"at most so many `words` of each picture, 0 for no limit; given alone, no threshold holds")
	w.float(&c.options.Threshold, "threshold", "least `probability`; -1 for that of the best expected F1")
	d := under(cmd, "Pictures")
	d.shard(&c.options.Shard, "pictures, or of the rows of features")
	enum(d, &c.options.Fit, "fit", "how pictures get onto the canvas (default that of the run)", picture.FitLongest,
		picture.FitSquare, picture.FitNone)
	d.int(&c.options.Batch, "batch-size", "`pictures` computed at once")
	d.int(&c.options.MaxBadSamples, "max-bad-samples",
		"`pictures` that cannot be read and are left out before prediction stops")
	d.int(&c.options.MaxPixels, "max-pixels", "largest picture that is decoded, in `pixels`; 0 for the most that can be, "+
		"700 million")
	under(cmd, "Clips").file(&c.options.FFmpeg, "ffmpeg", "`program` to take frames of videos with (default ffmpeg on "+
		"the PATH)")
	under(cmd, "Features").string(&c.options.FeatureArray, "feature-array",
		"`name` of the array of features in .npz and .safetensors (default that of the run)")
	out := under(cmd, "Output")
	enum(out, &c.format, "format", "`format`", predictText, predictJSON, predictCSV)
	out.bool(&c.asJSON, "json", "same as --format json")
	out.file(&c.output, "output", "`file` to write every probability to, instead of words to standard output: a matrix "+
		"of float32 as .npy, or the table of --format csv as .csv", "npy", "csv")
	r := under(cmd, "Run")
	deviceFlags(cmd, r, &c.run.Device, &c.run.Threads)
	precisionFlag(r, &c.run)
	return cmd
}

func (c *predictCommand) predict(ctx context.Context, p *program, path string, paths []string) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	m, err := p.openModel(ctx, path, c.checkpoint, c.run)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, m.Close()) }()
	o := c.options
	o.LeftOut, o.Skipped = p.tellLeftOut, p.tellSkipped
	if o.Threshold == run.Automatic && (c.format == predictCSV || c.output != "") { // which have every word
		o.Threshold = 0
	}
	predictions, err := m.Predict(ctx, paths, o)
	if err != nil {
		return err
	}
	if c.output != "" {
		p.tellShard(c.options.Shard, "rows of all shards are joined in their order")
		return predictions.WriteFile(c.output)
	}
	p.tellShard(c.options.Shard, "lines of all shards are joined in their order, of CSV without the headers but the first")
	tellThreshold(p, predictions)
	return c.write(p, predictions)
}

func (c *predictCommand) check() error {
	if c.asJSON {
		c.format = predictJSON
	}
	o := &c.options
	if c.output != "" {
		if err := run.CheckPredictionsFile(c.output); err != nil {
			return usagef("predict: --output: %v", err)
		}
	}
	switch {
	case o.Threshold != run.Automatic && !(o.Threshold >= 0 && o.Threshold <= 1):
		return usagef("predict: --threshold is %g, want 0 to 1, or -1", o.Threshold)
	case o.Top < 0 || o.Batch < 1 || o.MaxBadSamples < 0 || o.MaxPixels < 0:
		return usagef("predict: --top, --max-bad-samples and --max-pixels are at least 0, --batch-size at least 1")
	}
	return c.run.Validate()
}

// tellThreshold says which threshold holds, unless it was given.
func tellThreshold(p *program, predictions *run.Predictions) {
	these := "these pictures"
	if predictions.Clips {
		these = "these clips"
	}
	source := map[run.ThresholdSource]string{
		run.FromRun:         "the training data, told from out-of-fold scores",
		run.FromPredictions: these,
	}[predictions.ThresholdFrom]
	if source != "" && !p.quiet {
		fmt.Fprintf(p.err, "threshold %.3f, of the best expected F1 on %s; --threshold sets another\n",
			predictions.Threshold, source)
	}
}

// tellLeftOut says what of a set could not be read, and why.
func (p *program) tellLeftOut(bad []loader.BadSample, set *loader.Set) {
	for _, b := range bad {
		fmt.Fprintf(p.err, "left out: %s\n", visible.Line(withFlags(b.Err.Error())))
	}
	if len(bad) > 0 {
		fmt.Fprintf(p.err, "%d of %d %s could not be read and are left out\n", len(bad), set.Len(), set.Noun())
	}
}

// tellSkipped says which files of folders were not looked at.
func (p *program) tellSkipped(files []string) {
	if len(files) > 0 {
		fmt.Fprintln(p.err, dataset.Skipped(files))
	}
}

// predicted is a picture or a clip with its words, or a file that was skipped.
type predicted struct {
	Picture string           `json:"picture,omitempty"`
	Clip    string           `json:"clip,omitempty"`
	Words   []run.Prediction `json:"words"`
	Skipped bool             `json:"skipped,omitempty"`
}

// String writes it as a line of text.
func (p predicted) String() string {
	parts := make([]string, len(p.Words))
	for i, w := range p.Words {
		parts[i] = fmt.Sprintf("%s %.2f", visible.Line(w.Word), w.Probability)
	}
	return visible.Line(cmp.Or(p.Picture, p.Clip)) + ": " + strings.Join(parts, ", ")
}

func (c *predictCommand) write(p *program, predictions *run.Predictions) error {
	if c.format == predictCSV {
		return predictions.WriteTable(p.out)
	}
	pictures := make([]predicted, 0, predictions.Len())
	add := func(name string, words []run.Prediction, skipped bool) {
		one := predicted{Picture: name, Words: words, Skipped: skipped}
		if predictions.Clips {
			one.Picture, one.Clip = "", name
		}
		pictures = append(pictures, one)
	}
	for id, words := range predictions.All() {
		if c.format == predictJSON {
			id = visible.Name(id)
		}
		add(id, words, false)
	}
	if c.format == predictJSON {
		for _, file := range predictions.Skipped {
			add(visible.Name(file), []run.Prediction{}, true)
		}
		return writeJSON(p.out, pictures)
	}
	for _, picture := range pictures {
		if _, err := fmt.Fprintln(p.out, picture); err != nil {
			return err
		}
	}
	return nil
}
