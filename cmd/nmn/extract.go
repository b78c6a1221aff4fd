package main

import (
	"cmp"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/model"
	"nmn/run"
	"nmn/train"
)

// extractCommand are the flags of nmn extract.
type extractCommand struct {
	config     run.Config
	sources    sources
	checkpoint run.Checkpoint
	layers     []model.Layer
	batch      int
	split      string
	outputs    []string // a file for each layer
	labels     string   // file to write labels to
	truth      string   // file to write true labels to
	ids        string   // file to write identifiers to
	perFrame   bool     // a row for each frame of a video
	clips      string   // file to write the rows of each clip to
	asJSON     bool
}

func newExtract(p *program) *cobra.Command {
	c := extractCommand{config: run.DefaultConfig(), checkpoint: run.Last, layers: []model.Layer{model.Pool5}, batch: 16, split: "train"}
	cmd := &cobra.Command{
		Use:   "extract MODEL [PATH...]",
		Short: "Write what a layer says of pictures as features to train on",
		Long: `Write what a layer of MODEL, a run folder or a checkpoint of a net on pictures, says of each
picture: a row of a .npy or .safetensors file, which nmn train --features takes. Each PATH
is a picture (JPEG or PNG) or a folder, which is searched for pictures; they are taken in
the order of their names. Without a PATH it is a split of the run's data, with flags over
its configuration; --output-labels writes the labels that training saw, and --output-truth
the true ones where the data tell them (scenes).
pool5 is the mean of the last feature map over the cells of a picture, fc7 that of the layer
below the logits, and probabilities are p(y=1). Several layers come from one pass over the
pictures, into a file each. A picture that cannot be read has no row; --output-ids and
--output-labels name the rows that are there.
Videos have one row each, means over all frames; with --per-frame every frame has a row,
named CLIP#FRAME, and --output-clips tells which rows are those of which clip.
nmn features extract is another name of this command.`,
		Example: `  nmn extract runs/fd --output x.npy --output-labels y.csv
  nmn extract runs/fd --split test --layer fc7 --output test.npy --output-labels test.csv
  nmn extract runs/fd holiday/ --output x.safetensors --output-ids ids.txt
  nmn extract runs/video --per-frame --layer probabilities,pool5 --output p.npy,x.npy --output-clips clips.csv
  nmn train --features x.npy --labels y.csv --run-dir runs/head`,
		Args:              arguments(p, cobra.MinimumNArgs(1)),
		ValidArgsFunction: completeModels,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.extract(cmd, p, args[0], args[1:]) },
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &c.checkpoint)
	chosen(m, &c.layers, "layer", "layers to take, as `layer,...`", model.Pool5, model.FC7, model.Probabilities)
	m.int(&c.batch, "batch-size", "`pictures` computed at once. Results do not depend on it")
	m.bool(&c.perFrame, "per-frame", "videos: a row for each frame, not for each video")
	enum(m, &c.split, "split", "`split` of the data", "train", "validation", "test")
	out := under(cmd, "Output")
	out.strings(&c.outputs, "output", "files to write the features to, one for each layer, as `file,...`, .npy or .safetensors")
	_ = cmd.MarkFlagFilename("output", "npy", "safetensors")
	out.file(&c.labels, "output-labels", "`file` to write identifiers and labels of a split to, .csv", "csv")
	out.file(&c.truth, "output-truth", "`file` to write identifiers and true labels of a split to, .csv, where they are known", "csv")
	out.file(&c.ids, "output-ids", "`file` to write the identifier of each row to, a line each, as --ids takes them", "txt")
	out.file(&c.clips, "output-clips", "`file` to write the rows of each clip to, .csv: clip, first row from 0, rows; with --per-frame", "csv")
	out.bool(&c.asJSON, "json", "tell what was written as JSON")
	sourceFlags(cmd, &c.sources, run.Quick, run.Full)
	dataFlags(cmd, &c.config)
	runFlags(cmd, &c.config.Run)
	return cmd
}

func (c *extractCommand) extract(cmd *cobra.Command, p *program, path string, paths []string) error {
	if err := c.check(cmd, paths); err != nil {
		return err
	}
	file, folder, err := run.FindCheckpoint(path, c.checkpoint)
	if err != nil {
		return err
	}
	checkpoint, err := train.ReadCheckpoint(file)
	if err != nil {
		return err
	}
	for _, layer := range c.layers {
		if _, err := checkpoint.Model.LayerWidth(layer); err != nil {
			return usageError{err}
		}
	}
	if len(paths) > 0 {
		return c.pictures(cmd, p, file, folder, paths)
	}
	if err := c.sources.of(cmd.Flags(), &c.config).OpenFolderConfig(folder, &c.config); err != nil {
		return err
	}
	if c.sources.print {
		return printConfig(p, &c.config)
	}
	return c.data(cmd.Context(), p, file)
}

// forPictures are the flags of groups on data that count for named pictures too.
var forPictures = map[string]bool{"fit": true, "max-pixels": true, "max-bad-samples": true}

// ofSplit are the flags of other groups that named pictures have no use for.
var ofSplit = map[string]bool{"split": true, "output-labels": true, "output-truth": true, "per-frame": true, "output-clips": true}

func (c *extractCommand) check(cmd *cobra.Command, paths []string) error {
	if !c.sources.print || len(paths) > 0 {
		if err := c.checkOutputs(); err != nil {
			return err
		}
	}
	switch {
	case c.clips != "" && !c.perFrame:
		return usagef("extract: --output-clips tells the rows of frames: add --per-frame")
	case c.batch < 1:
		return usagef("extract: --batch-size is %d, want at least 1", c.batch)
	case len(paths) == 0:
		return nil
	}
	for _, flag := range givenFlags(cmd.Flags()) {
		group := cmd.Flags().Lookup(flag.name).Annotations[groupAnnotation]
		ofData := len(group) > 0 && (group[0] == "Data" || group[0] == "Configuration") && !forPictures[flag.name]
		if ofData || ofSplit[flag.name] {
			return usagef("extract: --%s belongs to the data of a run: leave it out, or %s", flag.name, strings.Join(paths, ", "))
		}
	}
	if !cmd.Flags().Changed("max-bad-samples") {
		c.config.Data.MaxBadSamples = math.MaxInt32
	}
	d := &c.config.Data
	if d.MaxBadSamples < 0 || d.MaxPixels < 0 {
		return usagef("extract: --max-bad-samples and --max-pixels are at least 0")
	}
	return c.config.Run.Validate()
}

// checkOutputs checks the names of all that is written.
func (c *extractCommand) checkOutputs() error {
	if len(c.outputs) != len(c.layers) {
		return usagef("extract: --output names %d files and --layer %d layers: want a file for each", len(c.outputs), len(c.layers))
	}
	files := map[string]string{}
	for i, output := range c.outputs {
		switch ending := strings.ToLower(filepath.Ext(output)); {
		case ending != ".npy" && ending != ".safetensors":
			return usagef("extract: --output is %q, want the name of a file that ends in .npy or .safetensors", output)
		case files[output] != "" || slices.Contains(c.layers[:i], c.layers[i]):
			return usagef("extract: %s goes to %s, and one of them is named twice", c.layers[i], output)
		}
		files[output] = "output"
	}
	for _, other := range []struct {
		flag, file string
		table      bool
	}{{"output-labels", c.labels, true}, {"output-truth", c.truth, true}, {"output-ids", c.ids, false}, {"output-clips", c.clips, true}} {
		if other.file == "" {
			continue
		}
		if other.table {
			if err := checkLabelTable("extract", other.flag, other.file); err != nil {
				return err
			}
		}
		if first, taken := files[other.file]; taken {
			return usagef("extract: --%s %s is the file of --%s: name one of its own", other.flag, other.file, first)
		}
		files[other.file] = other.flag
	}
	return nil
}

// pictures extracts from files and folders.
func (c *extractCommand) pictures(cmd *cobra.Command, p *program, file, folder string, paths []string) (err error) {
	files, err := findPictures(paths)
	if err != nil {
		return err
	}
	net, err := openNet(p, &c.config.Run, file)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	set := pictureSet(files, net.vocabulary, c.config.Data.MaxPixels)
	set.IDs = pictureIDs(paths, files)
	c.config.Data.Fit = pictureFit(c.config.Data.Fit, folder, net.Config())
	return c.write(cmd.Context(), p, net.Net, set, nil)
}

// data extracts from a split of a configuration.
func (c *extractCommand) data(ctx context.Context, p *program, file string) (err error) {
	s, err := openWatched(ctx, p, &c.config, "")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.Close()) }()
	set, err := s.Data.Split(c.split)
	if err != nil {
		return err
	}
	if c.truth != "" && !set.KnowsTruth() {
		return usagef("extract: the true labels of the %s split are not known: leave out --output-truth, or give data that tell them (scenes)", c.split)
	}
	net, checkpoint, err := train.OpenNet(file, s.Backend)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	if err := run.SameClasses(checkpoint, set.Vocabulary); err != nil {
		return err
	}
	c.config.Net.MIL = checkpoint.Model.MIL // which says how pictures fit
	if !set.Videos() {
		if c.perFrame {
			return usagef("extract: the %s split has no videos: leave out --per-frame", c.split)
		}
		return c.write(ctx, p, net, set, nil)
	}
	return c.videos(ctx, p, net, set, checkpoint.Config.ChunkFrames)
}

// videos extracts from videos, or from each of their frames.
func (c *extractCommand) videos(ctx context.Context, p *program, net *model.Net, set *loader.Set, chunk int) error {
	switch {
	case c.perFrame:
		frames, index, err := loader.Frames(ctx, set)
		if err != nil {
			return err
		}
		return c.write(ctx, p, net, frames, &clipRows{videos: set, index: index})
	case slices.Contains(c.layers, model.Probabilities) && c.config.ByFrame():
		return usagef("extract: this run has learned frames one by one, and says nothing of a video as a whole: add --per-frame")
	case chunk > 0 && slices.ContainsFunc(c.layers, func(l model.Layer) bool { return l != model.Probabilities }):
		return usagef("extract: this run takes %d frames of a video through the net at a time, and has nothing but probabilities of a whole one: add --per-frame", chunk)
	}
	return c.write(ctx, p, net, set, nil)
}
