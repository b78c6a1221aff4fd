package runfeatures

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"time"

	dense "gorgonia.org/tensor"

	"nmn/internal/memory"
	"nmn/internal/rng"
	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/vit"
	"nmn/text"
)

// Options says which pictures features are computed for, and how.
type Options struct {
	Data      *dataset.Splits
	Layer     model.Layer
	Precision tensor.Precision // of the device
	// Pictures of more than MaxPixels are not decoded. More than MaxBadSamples that cannot be read are an error.
	MaxPixels, MaxBadSamples int
	Log                      *slog.Logger
	// Notify takes what the user may want to know. A detail is not shown to all.
	Notify func(text string, detail bool)
	// Save calls write, which writes whole files: of several ranks, one does.
	Save func(ctx context.Context, write func() error) error
	// Progress, if not nil, is called with how many of all pictures are done.
	Progress func(done, of int)
}

// taking is a pass of a backbone over splits.
type taking struct {
	Options
	backbone *Backbone
	width    int

	store *featureStore
	views map[*loader.Set]*frameView
}

// frameView is a split picture by picture.
type frameView struct {
	set     *loader.Set // each frame is a bag
	offsets []int       // where the frames of a bag of the split begin; nil where each has one
	keys    []keys
	missing []int // of frames, those without features yet
	buffer  []byte
}

// featureBatch is how many pictures go through the net at once.
const featureBatch = 16

func (b *Backbone) taking(o *Options) (*taking, error) {
	width, err := b.Width(o.Layer)
	return &taking{Options: *o, backbone: b, width: width}, err
}

func (t *taking) loader() loader.Config {
	return t.backbone.Loader(featureBatch, math.MaxInt32, t.MaxPixels)
}

// Take puts features in the place of the pictures of all splits. Those that a folder has are not computed again, and
// the others are kept there; an empty name is no folder.
func (b *Backbone) Take(ctx context.Context, folder string, o *Options) (err error) {
	t, err := b.taking(o)
	if err != nil {
		return err
	}
	pictures := framesIn(t.Data)
	if err := memory.Check(fmt.Sprintf("features of %s", text.Count(pictures, "pictures")),
		int64(pictures)*int64(t.width)*8); err != nil {
		return fmt.Errorf("%w: nmn extract writes features of any number of pictures to a file, which can be trained on "+
			"(`data.features.train.features`)", err)
	}
	if folder != "" {
		name, err := t.name()
		if err != nil {
			return err
		}
		folder = filepath.Join(folder, name)
	}
	t.store, t.views = newFeatureStore(folder, t.width), map[*loader.Set]*frameView{}
	release, err := t.store.open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	have, err := t.find(ctx)
	if err != nil {
		return err
	}
	state := fmt.Sprintf("taking the features of %s", text.Count(pictures-have, "pictures"))
	if have > 0 {
		state = fmt.Sprintf("the folder has features of %s; %d are left", text.Count(have, "pictures"), pictures-have)
	}
	t.Notify(state, have == pictures)
	why, err := t.compute(ctx, pictures-have)
	if err != nil {
		return err
	}
	return t.Data.Replace(func(set *loader.Set) (loader.Vectors, error) { return t.vectors(set, why) })
}

// name is that of the folder of features of this kind: another one for other weights, pictures prepared otherwise,
// another layer or precision.
func (t *taking) name() (string, error) {
	info := t.backbone.Info()
	text, err := json.Marshal(struct {
		Form      int
		Weights   string
		Pictures  picture.Preprocessing
		Layer     model.Layer
		Precision string
		GELU      vit.GELU
		Heads     int
	}{1, t.backbone.Digest, info.Pictures, t.Layer, string(t.Precision), info.GELU, info.Heads})
	return keyOf(string(text)).String(), err
}

// find looks at the frames of each split: which have no features yet, and how many have.
func (t *taking) find(ctx context.Context) (have int, err error) {
	for _, set := range t.Data.Distinct() {
		v := new(frameView)
		if v.set, v.offsets, err = FramesOf(ctx, set); err != nil {
			return 0, err
		}
		v.keys = make([]keys, v.set.Len())
		for frame := range v.keys {
			known, err := t.findFrame(ctx, v, frame)
			switch {
			case err != nil:
				return 0, err
			case known:
				have++
			default:
				v.missing = append(v.missing, frame)
			}
		}
		t.views[set] = v
	}
	return have, t.store.flush(ctx, &t.Options)
}

// findFrame finds what a frame is known by, and whether it has features. A file whose time alone has changed is known
// by its content.
func (t *taking) findFrame(ctx context.Context, v *frameView, frame int) (known bool, err error) {
	of := &v.keys[frame]
	identity, err := loader.Identity(ctx, v.set.Source, frame, 0)
	switch {
	case errors.Is(err, loader.ErrCorrupt): // reading says what is wrong with it
		of.picture = keyOf(fmt.Sprintf("%s\x00%d", v.set.Name, frame))
		return false, nil
	case err != nil:
		return false, err
	}
	of.picture = keyOf(identity)
	if file := loader.FileOf(identity); file != "" {
		of.file = keyOf(file)
	}
	if _, known := t.store.rows[of.picture]; known || !t.store.files[of.file] {
		return known, nil
	}
	if err := v.read(ctx, frame); err != nil {
		return false, err
	}
	row, known := t.store.contents[of.content]
	if !known {
		return false, nil
	}
	return true, t.store.put(ctx, &t.Options, *of, row)
}

// read finds the content of a frame that has a file of its own.
func (v *frameView) read(ctx context.Context, frame int) error {
	of := &v.keys[frame]
	if of.file == (featureKey{}) || of.content != (featureKey{}) {
		return nil
	}
	content, err := loader.ReadEncoded(ctx, v.set.Source, frame, 0, v.buffer)
	v.buffer = content
	if errors.Is(err, loader.ErrCorrupt) { // reading says what is wrong with it
		of.file = featureKey{}
		return nil
	}
	of.content = keyOf(string(content))
	return err
}

// compute takes the features that are missing, of all in all of them, and returns why pictures have none.
func (t *taking) compute(ctx context.Context, all int) (why map[featureKey]error, err error) {
	done := 0
	why = map[featureKey]error{}
	for _, set := range t.Data.Distinct() {
		v := t.views[set]
		if len(v.missing) == 0 {
			continue
		}
		part, err := loader.Subset(v.set, set.Name, v.missing)
		if err != nil {
			return nil, err
		}
		bad, err := t.backbone.Rows(ctx, part, t.loader(), []model.Layer{t.Layer},
			func(bag int, rows [][]float32) error {
				if done++; t.Progress != nil {
					t.Progress(done, all)
				}
				frame := v.missing[bag]
				if err := v.read(ctx, frame); err != nil {
					return err
				}
				return t.store.put(ctx, &t.Options, v.keys[frame], rows[0])
			})
		err = errors.Join(err, t.store.flush(context.WithoutCancel(ctx), &t.Options))
		if err != nil {
			if ctx.Err() != nil && t.store.dir != "" {
				t.Notify(fmt.Sprintf("%d of %d are kept; run the same command again to continue", done, all), false)
			}
			return nil, err
		}
		var first []loader.BadSample // the first frame of each bag
		for _, b := range bad {
			frame := v.missing[b.Bag]
			why[v.keys[frame].picture] = b.Err
			bag := BagOf(v.offsets, frame)
			if len(first) == 0 || first[len(first)-1].Bag != bag {
				first = append(first, loader.BadSample{Bag: bag, Err: b.Err})
			}
		}
		done += len(bad)
		if allowed := t.MaxBadSamples; len(first) > allowed {
			return nil, loader.TooManyBad(set, first, allowed)
		}
	}
	return why, nil
}

func (t *taking) vectors(set *loader.Set, why map[featureKey]error) (loader.Vectors, error) {
	of := t.views[set]
	v := &loader.HeldVectors{Dim: t.width, Rows: make([]float32, len(of.keys)*t.width), Why: make([]error, set.Len()),
		Offsets: of.offsets}
	usable := set.Len()
	for frame := range of.keys {
		key := of.keys[frame].picture
		row, ok := t.store.rows[key]
		if !ok {
			bag := BagOf(of.offsets, frame)
			if v.Why[bag] == nil {
				usable--
			}
			v.Why[bag] = cmp.Or(v.Why[bag], why[key], fmt.Errorf("%w: its features are missing", loader.ErrCorrupt))
			continue
		}
		copy(v.Rows[frame*t.width:], row)
	}
	if usable == 0 && set.Len() > 0 {
		return nil, loader.NoneUsable(set, v.Why[0])
	}
	return v, nil
}

// sampled is the number of pictures from which the time for all is estimated, after a first batch, which
// allocates buffers.
const sampled = 2 * featureBatch

// Sample times a few pictures, and returns how long all would last. Features that mean nothing take the place of all.
func (b *Backbone) Sample(ctx context.Context, o *Options) (all time.Duration, err error) {
	t, err := b.taking(o)
	if err != nil {
		return 0, err
	}
	learned, _, err := FramesOf(ctx, t.Data.Train)
	if err != nil {
		return 0, err
	}
	first := make([]int, min(learned.Len(), featureBatch+sampled))
	for i := range first {
		first[i] = i * (learned.Len() / len(first))
	}
	part, err := loader.Subset(learned, learned.Name, first)
	if err != nil {
		return 0, err
	}
	l := t.loader()
	var began time.Time
	timed := 0
	_, err = t.backbone.Rows(ctx, part, l, []model.Layer{t.Layer}, func(bag int, _ [][]float32) error {
		if bag >= featureBatch || len(first) <= featureBatch {
			timed++
		}
		if bag == min(featureBatch, len(first))-1 && len(first) > featureBatch {
			began = time.Now()
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if !began.IsZero() && timed > 0 {
		all = time.Duration(float64(time.Since(began)) / float64(timed) * float64(framesIn(t.Data)))
	}
	return all, t.Data.Replace(func(set *loader.Set) (loader.Vectors, error) {
		frames, offsets, err := FramesOf(ctx, set)
		if err != nil {
			return nil, err
		}
		v := &loader.HeldVectors{Dim: t.width, Rows: make([]float32, frames.Len()*t.width), Offsets: offsets}
		random := rng.New(1)
		for i := range v.Rows {
			v.Rows[i] = float32(random.Uint32()) / (1 << 32)
		}
		return v, nil
	})
}

// FramesOf returns the pictures of a set, each a bag of its own, and the offset at which each bag begins; offsets are
// nil if a bag is one picture. Labels are left out: they are not read there.
func FramesOf(ctx context.Context, set *loader.Set) (frames *loader.Set, offsets []int, err error) {
	if !set.Videos() {
		return set, nil, nil
	}
	lean := *set
	lean.Truth, lean.Counts, lean.Captions, lean.CaptionsInUse, lean.Standard = nil, nil, nil, nil, nil
	if set.Rows == nil {
		if lean.Vocabulary, err = text.NewVocabulary([]text.Word{{Text: "frame", POS: text.Others}}); err != nil {
			return nil, nil, err
		}
		lean.Labels = dense.New(dense.WithShape(set.Len(), 1), dense.WithBacking(make([]uint8, set.Len())))
	}
	frames, index, err := loader.Frames(ctx, &lean)
	if err != nil {
		return nil, nil, err
	}
	return frames, index.Offsets(), nil
}

// BagOf returns the bag that a frame belongs to.
func BagOf(offsets []int, frame int) int {
	if offsets == nil {
		return frame
	}
	after, _ := slices.BinarySearch(offsets, frame+1)
	return after - 1
}

func framesIn(d *dataset.Splits) (frames int) {
	for _, set := range d.Distinct() {
		frames += set.AllFrames()
	}
	return frames
}
