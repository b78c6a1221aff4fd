package runfeatures

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"nmn/loader"
	"nmn/loader/features"
	"nmn/model"
)

// Output says which rows are extracted and where they go.
type Output struct {
	Layers  []model.Layer // those whose rows are taken, all from one pass; none take model.Pool5
	Outputs []string      // files for the rows, .npy or .safetensors, one for each layer; none where Row takes them
	// Row takes the rows of a bag, one for each layer, good until it returns; may be nil.
	Row      func(bag int, rows [][]float32) error
	PerFrame bool // gives each frame of a video a row, named CLIP#FRAME, and not each video
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
	// Rows passes on the outputs of layers for each bag, in order, and returns the bags that cannot be read.
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
	// About says what the rows depend on: net, pictures and settings. Rows for files are then kept while they are
	// extracted, and the same extraction goes on after an interruption. If it is empty, nothing is kept.
	About  string
	Notify func(text string) // takes what the user may want to know

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
	kept, err := x.keep(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	done, err = x.pass(ctx, kept)
	if errors.Is(err, errOtherRows) {
		x.Log.Warn("the rows from an earlier extraction differ: all are extracted again")
		if err := kept.clear(); err != nil {
			return nil, err
		}
		done, err = x.pass(ctx, kept)
	}
	switch {
	case err == nil:
		err = kept.remove()
	case ctx.Err() != nil:
		if failed := kept.flush(context.WithoutCancel(ctx)); failed == nil && kept.next > 0 {
			x.Notify(fmt.Sprintf("%d of %d %s are done and kept in %s; run the same command again to continue", kept.next,
				x.Set.Len(), x.Set.Noun(), kept.dir))
		}
	}
	return done, err
}

// keep looks for the rows of an extraction like this one that was interrupted.
func (x *Extraction) keep(ctx context.Context) (*keptRows, error) {
	o := x.Output
	if x.About == "" || len(o.Outputs) == 0 || o.Row != nil {
		return noRows(), nil
	}
	widths := make([]int, len(o.Layers))
	for i, layer := range o.Layers {
		var err error
		if widths[i], err = x.Net.Width(layer); err != nil {
			return nil, err
		}
	}
	return keepRows(ctx, o.Outputs[0], fmt.Sprintf("%s\n%q, %d %s by frame %v", x.About, o.Layers, x.Set.Len(),
		x.Set.Noun(), o.PerFrame), widths, x.Log)
}

// errOtherRows means that the net gives other rows now than those that were kept.
var errOtherRows = errors.New("other rows than before")

// pass extracts all that was not extracted before, and the last batch of that again: its last row shows whether the
// others are still those that this net gives of these pictures.
func (x *Extraction) pass(ctx context.Context, kept *keptRows) (done []Extracted, err error) {
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
	before, checked := kept.next, kept.next == 0
	set, bags, err := x.left(kept)
	if err != nil {
		return nil, err
	}
	bad, err := x.Net.Rows(ctx, set, x.Loader, x.Output.Layers, func(bag int, rows [][]float32) error {
		if bags != nil {
			bag = bags[bag]
		}
		switch {
		case bag < before-1 && !checked && !kept.isBad(bag):
			return nil
		case bag == before-1 && slices.EqualFunc(rows, kept.last, slices.Equal):
			checked = true
			x.Notify(fmt.Sprintf("going on from %d of %d %s", before, x.Set.Len(), x.Set.Noun()))
			return kept.all(ctx, func(bag int, rows [][]float32) error {
				index = append(index, bag)
				return write(files, rows)
			})
		case bag < before || !checked:
			return errOtherRows
		}
		index = append(index, bag)
		if x.Output.Progress != nil {
			x.Output.Progress(bag+1-before, x.Set.Len()-before)
		}
		return x.take(ctx, files, kept, bag, rows)
	})
	switch {
	case !checked && errors.Is(err, loader.ErrCorrupt):
		return nil, errOtherRows
	case err != nil:
		return nil, err
	}
	for i := range bad {
		if bags != nil {
			bad[i].Bag = bags[bad[i].Bag]
		}
	}
	x.LeftOut(bad, x.Set)
	return x.finish(ctx, files, index, len(bad))
}

// left is what is still to be extracted: from the batch of the last bag that has a row on, in the batches of before, on
// which the last bits of rows depend, and in the end the bags before it that could not be read. bags are nil for all.
func (x *Extraction) left(kept *keptRows) (set *loader.Set, bags []int, err error) {
	if kept.next == 0 {
		return x.Set, nil, nil
	}
	batch := max(x.Loader.BatchSize, 1)
	first := (kept.next - 1) / batch * batch
	for bag := first; bag < x.Set.Len(); bag++ {
		bags = append(bags, bag)
	}
	for _, bag := range kept.bad {
		if bag < first {
			bags = append(bags, bag)
		}
	}
	set, err = loader.Subset(x.Set, x.Set.Name, bags)
	return set, bags, err
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
func (x *Extraction) take(ctx context.Context, files []*features.Writer, kept *keptRows, bag int,
	rows [][]float32) error {
	if err := write(files, rows); err != nil {
		return err
	}
	if err := kept.put(ctx, bag, rows); err != nil || x.Output.Row == nil {
		return err
	}
	return x.Output.Row(bag, rows)
}

func write(files []*features.Writer, rows [][]float32) error {
	for i, f := range files {
		if err := f.Write(rows[i]); err != nil {
			return err
		}
	}
	return nil
}
