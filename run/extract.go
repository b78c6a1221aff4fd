package run

import (
	"context"
	"errors"
	"slices"

	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/features"
	"nmn/model"
	"nmn/train"
)

// ExtractOptions say what is extracted and where it goes.
type ExtractOptions struct {
	// Reading says how bags are read. For a split, only Batch, Shard and LeftOut count: the rest is as the configuration
	// says.
	Reading
	// Layers are those whose rows are taken, all from one pass; none take model.Pool5.
	Layers []model.Layer
	// Outputs are files for the rows, .npy or .safetensors, one for each layer; none where Row takes them.
	Outputs []string
	// Row takes the rows of a bag, one for each layer, good until it returns; nil for nobody.
	Row func(bag int, rows [][]float32) error

	// Split of the data is extracted where no path is given.
	Split string
	// Listed takes paths as files of pictures, whose rows come in this order; else they are searched and sorted.
	Listed bool
	// PerFrame gives each frame of a video a row, named CLIP#FRAME, and not each video.
	PerFrame bool
	// Labels, Truth, IDs and Clips are files that say what the rows are, empty for none: labels as training saw them
	// and true labels, .csv; an identifier a line; with PerFrame, the rows of each clip, .csv.
	Labels, Truth, IDs, Clips string

	// Progress is called with how many of all bags are done; nil for nobody.
	Progress func(done, of int)
}

// DefaultExtractOptions extract the training split.
func DefaultExtractOptions() ExtractOptions {
	return ExtractOptions{Reading: DefaultReading(), Layers: []model.Layer{model.Pool5}, Split: "train"}
}

// Extracted is what was extracted of a layer.
type Extracted struct {
	File     string      `json:"file"` // empty where there is none
	Layer    model.Layer `json:"layer"`
	Rows     int         `json:"rows"`
	Features int         `json:"features"` // in each row
	LeftOut  int         `json:"left_out"` // bags that could not be read
}

// Extract runs the model over pictures, or without paths over a split of its data, and gives what layers say of each.
// Files of features appear when all is there; memory is that of a batch.
func (m *Model) Extract(ctx context.Context, paths []string, o ExtractOptions) ([]Extracted, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	find := m.splitExtraction
	if len(paths) > 0 {
		find = func(ctx context.Context, o *ExtractOptions) (*extraction, error) {
			return m.pictureExtraction(paths, o)
		}
	}
	x, err := find(ctx, &o)
	if err != nil {
		return nil, err
	}
	return x.run(ctx)
}

// layered is a net whose layers say something of bags.
type layered interface {
	width(layer model.Layer) (int, error)
	// begin prepares the net for a set.
	begin(set *loader.Set) error
	// rows shows what layers say of each bag, in order.
	rows(ctx context.Context, set *loader.Set, l loader.Config, layers []model.Layer,
		write func(bag int, rows [][]float32) error) ([]loader.BadSample, error)
}

func (m *Model) width(layer model.Layer) (int, error) { return m.net.Config().LayerWidth(layer) }

// begin has the size of the batch be the limit on what goes through the net together, where bags are no videos.
func (m *Model) begin(set *loader.Set) error {
	if set.Videos() {
		return nil
	}
	return m.net.ChunkFrames(0)
}

func (m *Model) rows(ctx context.Context, set *loader.Set, l loader.Config, layers []model.Layer,
	write func(bag int, rows [][]float32) error) ([]loader.BadSample, error) {
	return train.Extract(ctx, m.net, set, l, layers, write)
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
func (o *ExtractOptions) find(paths []string) (files, skipped []string, err error) {
	if o.Listed {
		files, err = paths, dataset.CheckPictures(paths)
	} else {
		files, skipped, err = dataset.FindPictures(paths)
	}
	if err == nil {
		files, err = o.Shard.files(files, "pictures")
	}
	return files, skipped, err
}

func (m *Model) pictureExtraction(paths []string, o *ExtractOptions) (*extraction, error) {
	files, skipped, err := o.find(paths)
	if err != nil {
		return nil, err
	}
	set := dataset.Pictures(files, m.vocabulary, o.MaxPixels)
	o.skipped(skipped)
	set.IDs = pictureNames(paths, files)
	return &extraction{session: m.session, net: m, o: o, set: set, loader: m.loader(&o.Reading), clips: nil}, nil
}

func (m *Model) splitExtraction(ctx context.Context, o *ExtractOptions) (*extraction, error) {
	set, _, c, err := m.split(ctx, o.Split)
	if err != nil {
		return nil, err
	}
	if o.Truth != "" && !set.KnowsTruth() {
		return nil, noTruth(o.Split)
	}
	l := c.Loader()
	l.BatchBags = o.Batch
	if err := m.refuseVideos(set, o, c); err != nil {
		return nil, err
	}
	if set, err = o.Shard.set(set); err != nil {
		return nil, err
	}
	x := &extraction{session: m.session, net: m, o: o, set: set, loader: l, clips: nil}
	return x, x.ofVideos(ctx)
}

func noTruth(split string) error {
	return setting.Errorf("", "extract: the true labels of the %s split are not known: leave out `extract.output_truth`, "+
		"or give data that tell them (scenes)", split)
}

// extraction is the pass of a net over a set.
type extraction struct {
	session *Session
	net     layered
	o       *ExtractOptions
	set     *loader.Set
	loader  loader.Config
	clips   *clipRows // those that the rows are frames of; nil for none
}

// ofVideos makes frames of videos where each has a row.
func (x *extraction) ofVideos(ctx context.Context) error {
	switch {
	case !x.o.PerFrame:
		return nil
	case !x.set.Videos():
		return setting.Errorf("", "extract: the %s split has no videos: leave out `extract.per_frame`", x.o.Split)
	}
	frames, index, err := loader.Frames(ctx, x.set)
	if err != nil {
		return err
	}
	x.clips = &clipRows{videos: x.set, index: index}
	x.set = frames
	return nil
}

// refuseVideos refuses layers that say nothing of a video as a whole.
func (m *Model) refuseVideos(set *loader.Set, o *ExtractOptions, c *Config) error {
	chunk := m.checkpoint.Config.ChunkFrames
	switch {
	case !set.Videos() || o.PerFrame:
		return nil
	case slices.Contains(o.Layers, model.Probabilities) && c.ByFrame():
		return setting.Errorf("",
			"extract: this run has learned frames one by one, and says nothing of a video as a whole: add `extract.per_frame`")
	case chunk > 0 && slices.ContainsFunc(o.Layers, func(l model.Layer) bool { return l != model.Probabilities }):
		return setting.Errorf("",
			"extract: this run takes %d frames of a video through the net at a time, and has nothing but probabilities of a "+
				"whole one: add `extract.per_frame`",
			chunk)
	}
	return nil
}

// run streams the rows to where they go. Labels and identifiers of the rows come first, and the features appear when
// all is there.
func (x *extraction) run(ctx context.Context) (done []Extracted, err error) {
	files, err := x.create(ctx)
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	if err != nil {
		return nil, err
	}
	index := make([]int, 0, x.set.Len())
	bad, err := x.net.rows(ctx, x.set, x.loader, x.o.Layers,
		func(bag int, rows [][]float32) error {
			index = append(index, bag)
			return x.take(files, len(index), bag, rows)
		})
	if err != nil {
		return nil, err
	}
	x.o.leftOut(bad, x.set)
	return x.finish(ctx, files, index, len(bad))
}

// finish writes what the rows are and has the files of features appear. index are the bags that have a row.
func (x *extraction) finish(ctx context.Context, files []*features.Writer, index []int,
	leftOut int) (done []Extracted, err error) {
	if err := x.writeNames(ctx, index); err != nil {
		return nil, err
	}
	for i, layer := range x.o.Layers {
		width, err := x.net.width(layer)
		if err != nil {
			return nil, err
		}
		one := Extracted{Layer: layer, Rows: len(index), Features: width, LeftOut: leftOut}
		if len(x.o.Outputs) > 0 {
			one.File = x.o.Outputs[i]
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
func (x *extraction) create(ctx context.Context) (files []*features.Writer, err error) {
	if err := x.net.begin(x.set); err != nil {
		return nil, err
	}
	for i, output := range x.o.Outputs {
		width, err := x.net.width(x.o.Layers[i])
		if err != nil {
			return files, err
		}
		w, err := features.Create(output, width)
		if err != nil {
			return files, err
		}
		w.Patient(ctx, x.session.Log)
		files = append(files, w)
	}
	return files, nil
}

// take gives the rows of a bag to whoever asked for them.
func (x *extraction) take(files []*features.Writer, done, bag int, rows [][]float32) error {
	if x.o.Progress != nil {
		x.o.Progress(done, x.set.Len())
	}
	for i, f := range files {
		if err := f.Write(rows[i]); err != nil {
			return err
		}
	}
	if x.o.Row == nil {
		return nil
	}
	return x.o.Row(bag, rows)
}
