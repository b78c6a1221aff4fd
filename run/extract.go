package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nmn/internal/origin"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	runfeatures "nmn/run/features"
	"nmn/text"
	"nmn/train"
)

// ExtractOptions say what is extracted and where it goes.
type ExtractOptions struct {
	// Reading says how bags are read. For a split, only Batch, Shard and LeftOut count: the rest is as the configuration
	// says.
	Reading
	runfeatures.Output

	Split  string // of the data, extracted where no path is given
	FFmpeg string // the program that takes the frames of videos, for a model of clips; empty for ffmpeg on the PATH
}

// DefaultExtractOptions extract the training split.
func DefaultExtractOptions() ExtractOptions {
	return ExtractOptions{Reading: DefaultReading(), Output: runfeatures.Output{Layers: []model.Layer{model.Pool5}},
		Split: "train"}
}

// Extract runs the model over pictures, or without paths over a split of its data, and returns the outputs of
// layers for each. For a model that has learned clips, paths are as in Predict, unless they are a list of pictures.
// Files of features appear when they are complete. Memory is bounded by a batch.
func (m *Model) Extract(ctx context.Context, paths []string, o ExtractOptions) ([]runfeatures.Extracted, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if len(paths) > 0 && m.checkpoint.Clips != nil && !dataset.IsList(paths) {
		return m.extractClips(ctx, paths, &o)
	}
	net, err := filesOf([]string{m.file})(ctx)
	if err != nil {
		return nil, err
	}
	x, l := extraction{modelRows{m.net}, m.session, &o}, m.loader(&o.Reading)
	if len(paths) > 0 {
		return x.ofPictures(ctx, paths, m.vocabulary, l, net)
	}
	set, s, c, err := m.split(ctx, o.Split)
	if err != nil {
		return nil, err
	}
	l = c.Loader()
	l.BatchSize = o.Batch
	if err := m.refuseVideos(set, &o, c.ByFrame()); err != nil {
		return nil, err
	}
	return x.ofSplit(ctx, set, s, l, c.Data, o.Split, o.Shard, net)
}

// extractClips extracts from clips. Nothing is kept for a later call if it is interrupted.
func (m *Model) extractClips(ctx context.Context, paths []string,
	o *ExtractOptions) (done []runfeatures.Extracted, err error) {
	clips, err := m.findClips(ctx, paths, &o.Reading, o.FFmpeg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, clips.close()) }()
	if err := cmp.Or(o.checkFrames(clips.set), m.refuseVideos(clips.set, o, m.checkpoint.Clips.ByFrame)); err != nil {
		return nil, err
	}
	clips.set.IDs = clips.names
	l := m.loader(&o.Reading)
	if !o.PerFrame {
		l.BatchSize = clips.batch(o.Batch)
	}
	return extraction{modelRows{m.net}, m.session, o}.of(clips.set, l).Run(ctx)
}

func (o *ExtractOptions) validate() error {
	if len(o.Layers) == 0 {
		o.Layers = []model.Layer{model.Pool5}
	}
	if n := len(o.Outputs); n != 0 && n != len(o.Layers) {
		return setting.Errorf("", "%d files for %d layers: want a file for each", n, len(o.Layers))
	}
	return o.Reading.validate()
}

// find lists the pictures that paths name, and files of folders that were skipped.
func (o *ExtractOptions) find(ctx context.Context, paths []string) (files, skipped []string, err error) {
	if files, skipped, err = dataset.FindPictures(ctx, paths, o.Images); err == nil {
		files, err = o.Shard.files(files, "pictures")
	}
	return files, skipped, err
}

// extraction takes rows of bags with a net.
type extraction struct {
	net     runfeatures.Net
	session *Session
	*ExtractOptions
}

// ofPictures takes the rows of pictures. They depend on those and on more.
func (x extraction) ofPictures(ctx context.Context, paths []string, v *text.Vocabulary, l loader.Config, more ...any) (
	[]runfeatures.Extracted, error) {
	files, skipped, err := x.find(ctx, paths)
	if err != nil {
		return nil, err
	}
	set := dataset.Pictures(files, v, x.MaxPixels)
	if err := x.checkFrames(set); err != nil {
		return nil, err
	}
	x.skipped(skipped)
	set.IDs = x.pictureNames(paths, files)
	return x.from(ctx, set, l, filesOf(files), more...)
}

// ofSplit takes the rows of a split of the data of a session.
func (x extraction) ofSplit(ctx context.Context, set *loader.Set, s *Session, l loader.Config, more ...any) (
	[]runfeatures.Extracted, error) {
	if x.Truth != "" && !set.KnowsTruth() {
		return nil, setting.Errorf("", "extract: the true labels of the %s split are not known: leave out "+
			"`extract.output_truth`, or give data that have them (scenes)", x.Split)
	}
	set, err := x.Shard.set(set)
	if err != nil {
		return nil, err
	}
	if err := x.checkFrames(set); err != nil {
		return nil, err
	}
	return x.from(ctx, set, l, func(ctx context.Context) (origin.List, error) { return s.Data.Files(ctx, false) }, more...)
}

// from takes the rows of a set that is read from files.
func (x extraction) from(ctx context.Context, set *loader.Set, l loader.Config, files findFiles, more ...any) (
	done []runfeatures.Extracted, err error) {
	pass := x.of(set, l)
	if pass.About, err = extractionOf(ctx, &l, files, more...); err != nil {
		return nil, err
	}
	return pass.Run(ctx)
}

func (x extraction) of(set *loader.Set, l loader.Config) *runfeatures.Extraction {
	return &runfeatures.Extraction{Net: x.net, Set: set, Loader: l, Output: &x.Output, LeftOut: x.leftOut,
		Log: x.session.Log, Notify: func(text string) { x.session.Notify(Message{Text: text}) }}
}

type findFiles func(context.Context) (origin.List, error)

func filesOf(paths []string) findFiles {
	return func(ctx context.Context) (origin.List, error) {
		places := make([]origin.Place, len(paths))
		for i, path := range paths {
			places[i] = origin.Place{Name: path, Path: path}
		}
		return origin.Find(ctx, places, false)
	}
}

// extractionOf is a digest of what rows depend on: how pictures are read, which files they come from, by size and time,
// and more. The last bits of a row depend on its batch.
func extractionOf(ctx context.Context, l *loader.Config, files findFiles, more ...any) (string, error) {
	list, err := files(ctx)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	err = json.NewEncoder(sum).Encode([]any{ThisBuild().Identity(), l.BatchSize, l.Size, l.Fit, l.Resize, l.Orientation,
		l.Preprocessing, l.MaxPixels, more})
	for i := range list {
		fmt.Fprintf(sum, "%q %d %d %s\n", list[i].Path, list[i].Size, list[i].Modified.UnixNano(), list[i].Digest)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// modelRows are what the layers of a trained net say.
type modelRows struct{ net *model.Net }

func (m modelRows) Width(layer model.Layer) (int, error) { return m.net.Config().LayerWidth(layer) }

// Rows has the size of the batch be the limit on what goes through the net together, where bags are no videos.
func (m modelRows) Rows(ctx context.Context, set *loader.Set, l loader.Config, layers []model.Layer,
	write func(bag int, rows [][]float32) error) ([]loader.BadSample, error) {
	if !set.Videos() {
		if err := m.net.ChunkFrames(0); err != nil {
			return nil, err
		}
	}
	return train.Extract(ctx, m.net, set, l, layers, write)
}

// checkFrames refuses a row for each frame if there are no videos.
func (o *ExtractOptions) checkFrames(set *loader.Set) error {
	if o.PerFrame && !set.Videos() {
		return setting.Errorf("", "extract: there are no videos: leave out `extract.per_frame`")
	}
	return nil
}

// refuseVideos refuses layers that say nothing of a video as a whole.
func (m *Model) refuseVideos(set *loader.Set, o *ExtractOptions, byFrame bool) error {
	chunk := m.checkpoint.Config.ChunkFrames
	switch {
	case !set.Videos() || o.PerFrame:
		return nil
	case slices.Contains(o.Layers, model.Probabilities) && byFrame:
		return setting.Errorf("",
			"extract: this run has learned frames one by one, and says nothing of a video as a whole: add `extract.per_frame`")
	case chunk > 0 && slices.ContainsFunc(o.Layers, func(l model.Layer) bool { return l != model.Probabilities }):
		return setting.Errorf("", "extract: this run takes %d frames of a video through the net at a time, and has "+
			"nothing but probabilities of a whole one: add `extract.per_frame`", chunk)
	}
	return nil
}
