package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/eval"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/recipe"
	"nmn/run"
	"nmn/text"
	"nmn/train"
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
	array      string // of a feature file
	fit        picture.Fit
	batch      int
	maxBad     int
	maxPixels  int
	top        int
	threshold  float64
	observed   bool
	format     predictFormat
	asJSON     bool
}

// automatic is the threshold that the model's own probabilities choose.
const automatic = -1

func newPredict(p *program) *cobra.Command {
	c := predictCommand{run: run.DefaultConfig().Run, checkpoint: run.Last, batch: 16, maxBad: math.MaxInt32,
		maxPixels: picture.DefaultLimits().MaxPixels, threshold: automatic, format: predictText}
	cmd := &cobra.Command{
		Use:   "predict MODEL PATH...",
		Short: "Tell the words of pictures or features",
		Long: `Tell which words hold for pictures, with their probabilities. MODEL is a run folder or a
checkpoint; each PATH a picture (JPEG or PNG) or a folder, which is searched for pictures.
For a model on features, PATH is one file of them, as nmn train --features takes it; labels
in it are not read.
Words are those whose probability p(y=1) reaches the threshold: by default the one that
the run has kept with its model (nmn train --nmn-recipe estimate does), else the one that
gives the best expected F1 on these pictures (it needs a hundred or so to mean much), said
on standard error. CSV has every word of every picture, and nmn eval --scores reads it;
pictures of one folder are named there by their path in it.`,
		Example: `  nmn predict runs/fd holiday/ --top 5
  nmn predict runs/fd photo.jpg --threshold 0.3 --json
  nmn predict runs/fd pictures/ --format csv > scores.csv`,
		Args: arguments(p, cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error { return c.predict(cmd.Context(), p, args[0], args[1:]) },
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &c.checkpoint)
	m.bool(&c.observed, "observed", "tell p(z=1), that people would say the word, instead of p(y=1), that it holds")
	w := under(cmd, "Words")
	w.int(&c.top, "top", "at most so many `words` of each picture, 0 for no limit; given alone, no threshold holds")
	w.float(&c.threshold, "threshold", "least `probability`; -1 for that of the best expected F1")
	d := under(cmd, "Pictures")
	enum(d, &c.fit, "fit", "how pictures get onto the canvas (default that of the run)", picture.FitLongest, picture.FitSquare, picture.FitNone)
	d.int(&c.batch, "batch-size", "`pictures` computed at once")
	d.int(&c.maxBad, "max-bad-samples", "`pictures` that cannot be read and are left out before prediction stops")
	d.int(&c.maxPixels, "max-pixels", "largest picture that is decoded, in `pixels`")
	under(cmd, "Features").string(&c.array, "feature-array", "`name` of the array of features in .npz and .safetensors (default that of the run)")
	out := under(cmd, "Output")
	enum(out, &c.format, "format", "`format`", predictText, predictJSON, predictCSV)
	out.bool(&c.asJSON, "json", "same as --format json")
	runFlags(cmd, &c.run)
	return cmd
}

func (c *predictCommand) predict(ctx context.Context, p *program, path string, paths []string) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	file, folder, err := run.FindCheckpoint(path, c.checkpoint)
	if err != nil {
		return err
	}
	net, err := openNet(p, &c.run, file)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	var scores *train.Scores
	var set *loader.Set
	if net.Config().Input > 0 {
		scores, set, err = c.scoreFeatures(ctx, net.Net, net.vocabulary, folder, paths)
	} else {
		scores, set, err = c.scorePictures(ctx, net.Net, net.vocabulary, folder, paths)
	}
	if err != nil {
		return err
	}
	tellLeftOut(p, scores.Bad, set)
	threshold, err := c.cut(p, scores, folder)
	if err != nil {
		return err
	}
	return c.write(p, scores, set, threshold)
}

// scorePictures tells the words of pictures, named by their files.
func (c *predictCommand) scorePictures(ctx context.Context, net *model.Net, v *text.Vocabulary, folder string, paths []string) (*train.Scores, *loader.Set, error) {
	files, err := findPictures(paths)
	if err != nil {
		return nil, nil, err
	}
	scores, set, err := c.score(ctx, net, v, files, pictureFit(c.fit, folder, net.Config()))
	if err == nil && c.format == predictCSV {
		set.IDs = pictureIDs(paths, files)
	}
	return scores, set, err
}

func (c *predictCommand) check() error {
	if c.asJSON {
		c.format = predictJSON
	}
	switch {
	case c.threshold != automatic && !(c.threshold >= 0 && c.threshold <= 1):
		return usagef("predict: --threshold is %g, want 0 to 1, or -1", c.threshold)
	case c.top < 0 || c.batch < 1 || c.maxBad < 0 || c.maxPixels < 0:
		return usagef("predict: --top, --max-bad-samples and --max-pixels are at least 0, --batch-size at least 1")
	}
	return c.run.Validate()
}

// pictureFit is the one given, else that of the run, else the one that such a network is usually trained
// with.
func pictureFit(given picture.Fit, folder string, m model.Config) picture.Fit {
	if given != "" {
		return given
	}
	if run, err := run.ReadConfig(folder); err == nil {
		return run.Fit()
	}
	if m.MIL && len(m.Depths) == 5 {
		return picture.FitLongest
	}
	return picture.FitSquare
}

func (c *predictCommand) score(ctx context.Context, net *model.Net, v *text.Vocabulary, files []string, fit picture.Fit) (*train.Scores, *loader.Set, error) {
	set := pictureSet(files, v, c.maxPixels)
	l := loader.DefaultConfig()
	l.BatchBags, l.Fit, l.Workers, l.Prefetch, l.MaxBadSamples, l.MaxPixels = c.batch, fit, c.run.Workers, c.run.Prefetch, c.maxBad, c.maxPixels
	scores, err := train.Score(ctx, net, set, l)
	return scores, set, err
}

// predicted is a picture with its words.
type predicted struct {
	Picture string       `json:"picture"`
	Words   []prediction `json:"words"`
}

// String writes it as a line of text.
func (p predicted) String() string {
	parts := make([]string, len(p.Words))
	for i, w := range p.Words {
		parts[i] = fmt.Sprintf("%s %.2f", w.Word, w.Probability)
	}
	return p.Picture + ": " + strings.Join(parts, ", ")
}

// prediction is one word of a picture.
type prediction struct {
	Word        string  `json:"word"`
	Probability float64 `json:"probability"`
}

func (c *predictCommand) write(p *program, s *train.Scores, set *loader.Set, threshold float64) error {
	probabilities := c.probabilities(s)
	k := set.Vocabulary.Len()
	if c.format == predictCSV {
		return writeScores(p, set, s.Index, probabilities)
	}
	pictures := make([]predicted, len(s.Index))
	for row, bag := range s.Index {
		pictures[row] = predicted{set.IDs[bag], c.words(set.Vocabulary, probabilities[row*k:(row+1)*k], threshold)}
	}
	if c.format == predictJSON {
		return writeJSON(p.out, pictures)
	}
	for _, picture := range pictures {
		if _, err := fmt.Fprintln(p.out, picture); err != nil {
			return err
		}
	}
	return nil
}

// probabilities are those that are asked for.
func (c *predictCommand) probabilities(s *train.Scores) []float32 {
	if c.observed {
		return s.Observed.Float32s()
	}
	return s.Prob.Float32s()
}

// cut is the threshold that holds: one that is given, else that of the run, else that of the pictures.
func (c *predictCommand) cut(p *program, s *train.Scores, folder string) (float64, error) {
	switch {
	case c.threshold != automatic:
		return c.threshold, nil
	case c.top > 0 || c.format == predictCSV:
		return 0, nil
	}
	said := func(threshold float64, source string) {
		if !p.quiet {
			fmt.Fprintf(p.err, "threshold %.3f, of the best expected F1 on %s; --threshold sets another\n", threshold, source)
		}
	}
	if o, err := run.ReadOutcome(folder); err == nil && o != nil && o.Threshold != nil && !c.observed {
		said(*o.Threshold, "the training data, told from out-of-fold scores")
		return *o.Threshold, nil
	}
	threshold, err := eval.PlugInThreshold(c.probabilities(s), false)
	if err == nil {
		said(threshold, "these pictures")
	}
	return threshold, err
}

// words are those at or above the threshold, the most probable first.
func (c *predictCommand) words(v *text.Vocabulary, probabilities []float32, threshold float64) []prediction {
	words := []prediction{}
	for k, q := range probabilities {
		if float64(q) >= threshold {
			words = append(words, prediction{v.Word(k).Text, float64(q)})
		}
	}
	slices.SortStableFunc(words, func(a, b prediction) int { return cmp.Compare(b.Probability, a.Probability) })
	if c.top > 0 {
		words = words[:min(c.top, len(words))]
	}
	return words
}

// writeScores writes a row for each picture and a column for each word.
func writeScores(p *program, set *loader.Set, index []int, probabilities []float32) error {
	ids := make([]string, len(index))
	for row, bag := range index {
		ids[row] = set.IDs[bag]
	}
	return recipe.WriteScoreTable(p.out, set.Vocabulary.Texts(), ids, probabilities)
}
