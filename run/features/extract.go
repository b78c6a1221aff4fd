package runfeatures

import (
	"context"
	"errors"
	"log/slog"

	"nmn/loader"
	"nmn/loader/features"
	"nmn/model"
)

// Output says which rows are extracted and where they go.
type Output struct {
	// Layers are those whose rows are taken, all from one pass; none take model.Pool5.
	Layers []model.Layer
	// Outputs are files for the rows, .npy or .safetensors, one for each layer; none where Row takes them.
	Outputs []string
	// Row takes the rows of a bag, one for each layer, good until it returns; nil if no one takes them.
	Row func(bag int, rows [][]float32) error
	// PerFrame gives each frame of a video a row, named CLIP#FRAME, and not each video.
	PerFrame bool
	// Labels, Truth, IDs and Clips are files that say what the rows are, empty for none: labels as training saw them
	// and true labels, .csv; an identifier a line; with PerFrame, the rows of each clip, .csv.
	Labels, Truth, IDs, Clips string

	// Progress, if not nil, is called with how many of all bags are done.
	Progress func(done, of int)
}

// Extracted is what was extracted of a layer.
type Extracted struct {
	File     string      `json:"file"` // empty if there is none
	Layer    model.Layer `json:"layer"`
	Rows     int         `json:"rows"`
	Features int         `json:"features"` // in each row
	LeftOut  int         `json:"left_out"` // bags that could not be read
}

// Net is a net whose layers say something of bags.
type Net interface {
	// Width is the number of features of a layer.
	Width(layer model.Layer) (int, error)
	// Rows shows what layers say of each bag, in order, and returns those that cannot be read.
	Rows(ctx context.Context, set *loader.Set, l loader.Config, layers []model.Layer,
		write func(bag int, rows [][]float32) error) ([]loader.BadSample, error)
}

// Extraction is the pass of a net over a set.
type Extraction struct {
	Net    Net
	Set    *loader.Set
	Loader loader.Config
	Output *Output
	// LeftOut is called with the bags that could not be read, before files appear.
	LeftOut func(bad []loader.BadSample, set *loader.Set)
	Log     *slog.Logger

	clips *clipRows // those that the rows are frames of; nil for none
}

// Run streams the rows to where they go. Labels and identifiers of the rows come first, and the features appear when
// all is there.
func (x *Extraction) Run(ctx context.Context) (done []Extracted, err error) {
	if x.Output.PerFrame && x.Set.Videos() {
		if err := x.splitVideos(ctx); err != nil {
			return nil, err
		}
	}
	files, err := x.create(ctx)
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	index := make([]int, 0, x.Set.Len())
	bad, err := x.Net.Rows(ctx, x.Set, x.Loader, x.Output.Layers,
		func(bag int, rows [][]float32) error {
			index = append(index, bag)
			return x.take(files, len(index), bag, rows)
		})
	if err != nil {
		return nil, err
	}
	x.LeftOut(bad, x.Set)
	return x.finish(ctx, files, index, len(bad))
}

// splitVideos makes each frame of the videos a bag.
func (x *Extraction) splitVideos(ctx context.Context) error {
	frames, index, err := loader.Frames(ctx, x.Set)
	if err != nil {
		return err
	}
	x.clips = &clipRows{videos: x.Set, index: index}
	x.Set = frames
	return nil
}

// finish writes what the rows are and has the files of features appear. index are the bags that have a row.
func (x *Extraction) finish(ctx context.Context, files []*features.Writer, index []int,
	leftOut int) (done []Extracted, err error) {
	if err := x.writeNames(ctx, index); err != nil {
		return nil, err
	}
	for i, layer := range x.Output.Layers {
		width, err := x.Net.Width(layer)
		if err != nil {
			return nil, err
		}
		one := Extracted{Layer: layer, Rows: len(index), Features: width, LeftOut: leftOut}
		if len(x.Output.Outputs) > 0 {
			one.File = x.Output.Outputs[i]
		}
		if len(files) > 0 {
			if err := files[i].Commit(); err != nil {
				return nil, err
			}
		}
		done = append(done, one)
	}
	return done, nil
}

// create starts the outputs. After an error those that it has started must be closed too.
func (x *Extraction) create(ctx context.Context) (files []*features.Writer, err error) {
	for i, output := range x.Output.Outputs {
		width, err := x.Net.Width(x.Output.Layers[i])
		if err != nil {
			return files, err
		}
		w, err := features.Create(output, width)
		if err != nil {
			return files, err
		}
		w.Patient(ctx, x.Log)
		files = append(files, w)
	}
	return files, nil
}

// take gives the rows of a bag to the files and to Row.
func (x *Extraction) take(files []*features.Writer, done, bag int, rows [][]float32) error {
	if x.Output.Progress != nil {
		x.Output.Progress(done, x.Set.Len())
	}
	for i, f := range files {
		if err := f.Write(rows[i]); err != nil {
			return err
		}
	}
	if x.Output.Row == nil {
		return nil
	}
	return x.Output.Row(bag, rows)
}
