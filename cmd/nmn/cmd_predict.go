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
	"nmn/report"
	"nmn/run"
	"nmn/text"
)

type predictCommand struct {
	run        run.Resources
	checkpoint run.Checkpoint
	options    run.PredictOptions
	format     report.Format
	output     string
	asJSON     bool
}

func newPredict(p *program) *cobra.Command {
	c := predictCommand{run: run.DefaultConfig().Run, checkpoint: run.Last, options: run.DefaultPredictOptions(),
		format: report.Text}
	cmd := &cobra.Command{
		Use:   "predict MODEL PATH...",
		Short: "Predict the labels of pictures, clips or features",
		Long: `Predict the labels of pictures with their probabilities. MODEL is a run folder or a checkpoint.
Each PATH is a picture or a folder, or PATH is a list of pictures. Other models take videos or
a file of features.`,
		Annotations: details(`Pictures are JPEG, PNG, GIF, WebP, BMP or TIFF. Folders are searched; other files in them are
counted on standard error and marked "skipped" in JSON. A list is a .txt file with a path on
each line, or a table, whose labels are ignored (docs/guide/labels.md). Paths begin in the folder
of the list, or in --images.
Pictures are turned and resized as in training (docs/guide/pictures.md).

A model of clips takes videos and folders; a folder is searched for videos and for folders of
frames. Each clip has one answer. ffmpeg 5.1 or newer takes the frames of videos, as for the
training clips (docs/guide/video.md). A model on features takes one file that nmn train also
takes, and ignores its labels.

A label is predicted if its probability p(y=1) reaches the threshold. By default this is the
threshold stored with the model (recipe.form estimate stores one), or the threshold with the
best expected F1 on these pictures. The second needs about a hundred pictures. Standard error
shows which threshold was used.

CSV has every label of every picture, and nmn eval --scores reads it. CSV names the pictures of
one folder by their path in it. In CSV and JSON, a byte of a name that is not UTF-8 is written
as \x and two hexadecimal digits, and so is a backslash before such an escape. Text also escapes
control characters, such as \x1b.`),
		Example: `  nmn predict runs/fd holiday/ --top 5
  nmn predict runs/fd pictures/ --format csv > scores.csv
  nmn predict runs/clips holiday.mp4 frames/`,
		Args: arguments(p, counted(2, anyNumber)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.predict(cmd.Context(), p, args[0], args[1:]) },
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &c.checkpoint)
	m.bool(&c.options.Observed, "observed", "predict observed labels, p(z=1), instead of true labels, p(y=1)")
	w := under(cmd, "Labels")
	w.int(&c.options.Top, "top", "print at most this many `labels` of each picture", "[0,]")
	w.float(&c.options.Threshold, "threshold", "print labels from this `probability`; -1 finds the best")
	d := under(cmd, "Pictures")
	d.directory(&c.options.Images, "images", "find the pictures of a list in this `folder`")
	d.shard(&c.options.Shard, "pictures or rows")
	enum(d, &c.options.Fit, "fit", "fit pictures onto the canvas this way", picture.FitLongest,
		picture.FitSquare, picture.FitNone)
	d.int(&c.options.Batch, "batch-size", "compute this many `pictures` at once", "[1,]")
	d.int(&c.options.MaxBadSamples, "max-bad-samples", "leave out up to this many unreadable `pictures`", "[0,]")
	d.int(&c.options.MaxPixels, "max-pixels", "refuse pictures with more `pixels`; 0 allows 700 million", "[0,]")
	under(cmd, "Clips").file(&c.options.FFmpeg, "ffmpeg", "take frames of videos with this `program`")
	under(cmd, "Features").string(&c.options.FeatureArray, "feature-array",
		"read the array with this `name` in .npz and .safetensors")
	out := under(cmd, "Output")
	enum(out, &c.format, "format", "print in this `format`", report.Text, report.JSON, report.CSV)
	out.bool(&c.asJSON, "json", "print JSON")
	out.output(&c.output, "output", "write all probabilities to this `file`, .npy or .csv", ".npy", ".csv")
	r := under(cmd, "Run")
	deviceFlags(r, &c.run.Device, &c.run.Threads)
	precisionFlag(r, &c.run)
	return cmd
}

func (c *predictCommand) predict(ctx context.Context, p *program, path string, paths []string) (err error) {
	if c.asJSON {
		c.format = report.JSON
	}
	if t := c.options.Threshold; t != run.Automatic && !(t >= 0 && t <= 1) {
		return usagef("predict: --threshold is %g, want at least 0 and at most 1, or -1", t)
	}
	if err := c.run.Validate(); err != nil {
		return err
	}
	m, err := p.openModel(ctx, path, c.checkpoint, c.run)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, m.Close()) }()
	o := c.options
	o.LeftOut, o.Skipped = p.tellLeftOut, p.tellSkipped
	if o.Threshold == run.Automatic && (c.format == report.CSV || c.output != "") { // these have every label
		o.Threshold = 0
	}
	predictions, err := m.Predict(ctx, paths, o)
	if err != nil {
		return err
	}
	if c.output != "" {
		p.tellShard(c.options.Shard, "join the rows of all shards in order")
		if err := predictions.WriteFile(c.output); err != nil {
			return err
		}
		p.message(run.Message{Topic: "output", Text: fmt.Sprintf("%s: %s", c.output, text.Count(predictions.Len(), "rows"))})
		return nil
	}
	p.tellShard(c.options.Shard, "join the lines of all shards in order, with one CSV header")
	tellThreshold(p, predictions)
	return c.write(p, predictions)
}

// tellThreshold prints a threshold that was chosen automatically.
func tellThreshold(p *program, predictions *run.Predictions) {
	these := "these pictures"
	if predictions.Clips {
		these = "these clips"
	}
	source := map[run.ThresholdSource]string{
		run.FromRun:         "the training data, from out-of-fold scores",
		run.FromPredictions: these,
	}[predictions.ThresholdFrom]
	if source != "" && !p.quiet {
		fmt.Fprintf(p.err, "threshold %.3f: best expected F1 on %s; --threshold changes it\n", predictions.Threshold, source)
	}
}

// tellLeftOut prints which samples of a set could not be read, and why.
func (p *program) tellLeftOut(bad []loader.BadSample, set *loader.Set) {
	for _, b := range bad {
		fmt.Fprintf(p.err, "left out: %s\n", visible.Line(withFlags(b.Err.Error())))
	}
	if len(bad) > 0 {
		fmt.Fprintf(p.err, "%d of %d %s could not be read and were left out\n", len(bad), set.Len(), set.Noun())
	}
}

// tellSkipped prints which files of folders were skipped.
func (p *program) tellSkipped(files []string) {
	if len(files) > 0 {
		fmt.Fprintln(p.err, dataset.DescribeSkipped(files))
	}
}

// predicted is a picture or a clip with its labels, or a skipped file.
type predicted struct {
	Picture string           `json:"picture,omitempty"`
	Clip    string           `json:"clip,omitempty"`
	Words   []run.Prediction `json:"labels"`
	Skipped bool             `json:"skipped,omitempty"`
}

// String returns the prediction as a line of text.
func (p predicted) String() string {
	parts := make([]string, len(p.Words))
	for i, w := range p.Words {
		parts[i] = fmt.Sprintf("%s %.2f", visible.Line(w.Word), w.Probability)
	}
	return visible.Line(cmp.Or(p.Picture, p.Clip)) + ": " + strings.Join(parts, ", ")
}

func (c *predictCommand) write(p *program, predictions *run.Predictions) error {
	if c.format == report.CSV {
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
		if c.format == report.JSON {
			id = visible.Name(id)
		}
		add(id, words, false)
	}
	if c.format == report.JSON {
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
