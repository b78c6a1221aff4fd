package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/model/backbone"
	"nmn/run"
	runfeatures "nmn/run/features"
	"nmn/text"
	"nmn/train"
)

type extractCommand struct {
	config     run.Config
	sources    sources
	checkpoint run.Checkpoint
	options    run.ExtractOptions
	asJSON     bool
	// weights is a file of a pretrained net that replaces MODEL. about holds what its tensors do not show.
	weights string
	about   backbone.Options
}

func newExtract(p *program) *cobra.Command {
	c := extractCommand{sources: newSources(), checkpoint: run.Last, options: run.DefaultExtractOptions()}
	cmd := &cobra.Command{
		Use:   "extract {MODEL | --weights FILE} [PATH...]",
		Short: "Compute features of pictures or clips with a net",
		Long: `Compute features of pictures with a layer of MODEL, a run folder or a checkpoint, or of the
pretrained net --weights. The file has a row for each picture; nmn train takes it.`,
		Annotations: details(`Each PATH is a picture or a folder, which is searched for pictures, or PATH is a list of
pictures, as in nmn predict. Rows are in the order of the names, or of the list. Without PATH,
the pictures are a split of the run's data; --set changes its configuration. --output-labels
then writes the observed labels, and --output-truth the true labels if they are known.

Layers of MODEL: pool5 is the mean of the last feature map, fc7 the mean of the layer below the
logits, and probabilities are p(y=1). Several layers need one pass, and each has its own file.
An unreadable picture has no row; --output-ids and --output-labels name the rows.

--weights takes a vision transformer (torchvision, timm, DINOv2 and CLIP of Hugging Face), a
ResNet or a VGG16 and recognises it by its tensors. Pictures are resized and cropped as that net
needs it; nmn weights shows how. Its layers are cls, mean and cls+mean of a transformer,
embedding of CLIP, or pool5 and fc7. Without PATH, --set selects the data: data.manifest,
data.captions and so on.

A model of clips takes videos and folders of frames, as nmn predict does. A clip has one row,
the mean over its frames. With --per-frame every frame has a row, named CLIP#FRAME, and
--output-clips lists the rows of each clip.

If an extraction was interrupted, the same command continues it: a hidden folder next to the
first file keeps the rows until the extraction ends.

Results depend on --batch-size and --threads only in the last bits.`),
		Example: `  nmn extract --weights dinov2-small pictures/ --output x.npy --output-ids ids.txt
  nmn extract runs/fd --output x.npy --output-labels y.csv
  nmn extract runs/video --per-frame --layer pool5 --output x.npy --output-clips clips.csv`,
		Args: arguments(p, c.args),
		RunE: func(cmd *cobra.Command, args []string) error {
			if c.weights != "" {
				return c.pretrained(cmd, p, args)
			}
			return c.extract(cmd, p, args[0], args[1:])
		},
	}
	m := under(cmd, "Model")
	checkpointFlag(m, &c.checkpoint)
	c.weightsFlags(m)
	some(m, &c.options.Layers, "layer", "take these layers, as `layer,...` (pool5, fc7, cls, ...)",
		model.Pool5, model.FC7, model.Probabilities, "cls", "mean", "cls+mean", "embedding")
	m.int(&c.options.Batch, "batch-size", "compute this many `pictures` at once", "[1,]")
	m.shard(&c.options.Shard, "pictures")
	m.bool(&c.options.PerFrame, "per-frame", "write a row for each frame of a video")
	enum(m, &c.options.Split, "split", "extract from this `split` of the data", "train", "validation", "test")
	m.file(&c.options.FFmpeg, "ffmpeg", "take frames of videos with this `program`")
	out := under(cmd, "Output")
	out.strings(&c.options.Outputs, "output", "write each layer to a file, as `file,...`, .npy or .safetensors")
	_ = cmd.MarkFlagFilename("output", "npy", "safetensors")
	out.output(&c.options.Labels, "output-labels", "write identifiers and labels to this .csv `file`", ".csv")
	out.output(&c.options.Truth, "output-truth", "write identifiers and true labels to this .csv `file`", ".csv")
	out.file(&c.options.IDs, "output-ids", "write the identifier of each row to this `file`", "txt")
	out.output(&c.options.Clips, "output-clips", "write the rows of each clip to this .csv `file`", ".csv")
	out.needs("per-frame", "output-clips")
	out.bool(&c.asJSON, "json", "print what was written as JSON")
	c.sources.add(under(cmd, "Data"), "images", "max-bad-samples")
	sourceFlags(cmd, &c.sources, run.Quick, run.Full)
	c.sources.add(under(cmd, "Run"), "device", "precision", "threads")
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
	for _, layer := range c.options.Layers {
		if _, err := checkpoint.Model.LayerWidth(layer); err != nil {
			return usageError{err}
		}
	}
	if len(paths) == 0 {
		if err := c.sources.of().ResolveFolder(folder, &c.config); err != nil {
			return err
		}
	}
	return c.from(cmd.Context(), p, paths, func(ctx context.Context, s *watchedSession) (extractor, error) {
		if s != nil {
			return s.OpenModel(file, c.checkpoint)
		}
		c.options.Fit = c.config.Data.Fit
		return p.openModel(ctx, file, c.checkpoint, c.config.Run)
	})
}

// forPictures are the settings that also apply to named pictures.
var forPictures = []string{"data.fit", "data.max_pixels", "data.max_bad_samples"}

// ofSplit are the flags that do not apply to named pictures.
var ofSplit = []string{"split", "output-labels", "output-truth", "preset", "size", "config"}

func (c *extractCommand) check(cmd *cobra.Command, paths []string) error {
	if err := c.checkOutputs(); err != nil {
		return err
	}
	switch {
	case c.options.FFmpeg != "" && (len(paths) == 0 || dataset.IsList(paths) || c.weights != ""):
		return usagef("extract: --ffmpeg is for videos that are named, and a MODEL of clips: leave it out")
	case len(paths) == 0:
		return nil
	}
	unread := ""
	for _, one := range c.sources.given {
		listed := one.Key == "data.images" && dataset.IsList(paths)
		if !slices.Contains(forPictures, one.Key) && !listed && !strings.HasPrefix(one.Key, "run.") {
			unread = one.Key
		}
	}
	for _, flag := range ofSplit {
		if cmd.Flags().Changed(flag) {
			unread = "--" + flag
		}
	}
	if unread != "" {
		return usagef("extract: %s is for the data of a run: leave it out, or leave out %s", unread,
			strings.Join(paths, ", "))
	}
	c.config = run.DefaultConfig()
	c.config.Data.MaxBadSamples = math.MaxInt32
	if err := c.sources.apply(&c.config); err != nil {
		return err
	}
	c.options.Images = c.config.Data.Images
	return c.config.Run.Validate()
}

// checkOutputs checks the names of all output files.
func (c *extractCommand) checkOutputs() error {
	if len(c.options.Outputs) != len(c.options.Layers) {
		return usagef("extract: --output names %d files and --layer %d layers: want a file for each",
			len(c.options.Outputs), len(c.options.Layers))
	}
	files := map[string]string{}
	for i, output := range c.options.Outputs {
		switch ending := strings.ToLower(filepath.Ext(output)); {
		case ending != ".npy" && ending != ".safetensors":
			return usagef("extract: --output is %q, want the name of a file that ends in .npy or .safetensors", output)
		case files[output] != "" || slices.Contains(c.options.Layers[:i], c.options.Layers[i]):
			return usagef("extract: %s goes to %s, and one of the two is given twice", c.options.Layers[i], output)
		}
		files[output] = "output"
	}
	for _, other := range []struct{ flag, file string }{{"output-labels", c.options.Labels},
		{"output-truth", c.options.Truth}, {"output-ids", c.options.IDs}, {"output-clips", c.options.Clips}} {
		if first, taken := files[other.file]; taken && other.file != "" {
			return usagef("extract: --%s %s is also the file of --%s: give another file", other.flag, other.file, first)
		}
		files[other.file] = other.flag
	}
	return nil
}

// extractor is a net that computes features of pictures. Without paths it takes a split of its session's data.
type extractor interface {
	io.Closer
	Extract(ctx context.Context, paths []string, o run.ExtractOptions) ([]runfeatures.Extracted, error)
}

// from extracts features of files and folders, or of a split of the configuration's data. open opens the net, within a
// session unless that is nil.
func (c *extractCommand) from(ctx context.Context, p *program, paths []string,
	open func(context.Context, *watchedSession) (extractor, error)) (err error) {
	var s *watchedSession
	if len(paths) == 0 {
		s, err = openWatched(ctx, p, c.config, metricsOptions{}, func(o *run.Options) { o.FeaturesAlone = c.weights != "" })
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, s.Close()) }()
	} else {
		c.options.MaxPixels, c.options.MaxBadSamples = c.config.Data.MaxPixels, c.config.Data.MaxBadSamples
	}
	net, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, net.Close()) }()
	return c.write(ctx, p, net, paths)
}

// write extracts and prints what was written. JSON is an object for one layer and a list for several.
func (c *extractCommand) write(ctx context.Context, p *program, net extractor, paths []string) error {
	o := c.options
	o.Progress = p.counted("extracted", "pictures")
	o.Skipped = p.tellSkipped
	o.LeftOut = func(bad []loader.BadSample, set *loader.Set) {
		p.status.clear()
		p.tellLeftOut(bad, set)
	}
	done, err := net.Extract(ctx, paths, o)
	p.status.clear()
	if err == nil {
		p.tellShard(c.options.Shard, "join the rows of all shards in order")
	}
	switch {
	case err != nil:
		return err
	case c.asJSON && len(done) == 1:
		return writeJSON(p.out, done[0])
	case c.asJSON:
		return writeJSON(p.out, done)
	}
	for _, of := range done {
		if _, err := fmt.Fprintf(p.out, "%s: %s of %s, %s\n", of.File, text.Count(of.Rows, "rows"),
			text.Count(of.Features, "features"), of.Layer); err != nil {
			return err
		}
	}
	if c.options.Shard.Of == 0 && len(done) > 0 {
		p.message(run.Message{Topic: "next", Text: c.next(done[0].File)})
	}
	return nil
}

// next returns the command that trains on a file of features.
func (c *extractCommand) next(file string) string {
	switch {
	case c.options.Clips != "":
		return shellLine([]string{"nmn", "caption", "train", "--features", file, "--clips",
			c.options.Clips}) + " --captions FILE"
	case c.options.Labels != "":
		return shellLine([]string{"nmn", "train", file, "--labels", c.options.Labels})
	}
	return shellLine([]string{"nmn", "train", file}) + " --labels FILE"
}
