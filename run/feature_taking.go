package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"nmn/internal/memory"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/vit"
	"nmn/train"
)

// taking is a pass of a backbone over the splits of a session.
type taking struct {
	session  *Session
	backbone *Backbone
	layer    model.Layer
	width    int
	progress func(done, of int)

	store *featureStore
	views map[*loader.Set]*frameView
}

// frameView is a split picture by picture.
type frameView struct {
	set     *loader.Set // each frame is a bag
	offsets []int       // where the frames of a bag of the split begin; nil where each has one
	keys    []featureKey
	missing []int // of frames, those without features yet
}

// featureBatch is how many pictures go through the net at once.
const featureBatch = 16

func (t *taking) loader() loader.Config {
	d := &t.session.Config.Data
	l := t.backbone.loader(&Reading{Batch: featureBatch, MaxBadSamples: math.MaxInt32, MaxPixels: d.MaxPixels})
	return l
}

// all takes the features of all splits.
func (t *taking) all(ctx context.Context, folder string) (err error) {
	s := t.session
	pictures := s.framesIn()
	if err := memory.Check(fmt.Sprintf("features of %d pictures", pictures),
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
	release, err := t.store.open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	have, err := t.find(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("the features of %d pictures are taken", pictures-have)
	if have > 0 {
		text = fmt.Sprintf("those of %d pictures were taken before; %d are left", have, pictures-have)
	}
	s.Tell(Message{Topic: "features", Text: text, Detail: have == pictures})
	why, err := t.compute(ctx, pictures-have)
	if err != nil {
		return err
	}
	return s.Data.Replace(func(set *loader.Set) (loader.Vectors, error) { return t.vectors(set, why) })
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
	}{1, t.backbone.digest, info.Pictures, t.layer, string(t.session.Config.Run.Precision), info.GELU, info.Heads})
	return keyOf(string(text)).String(), err
}

// find looks at the frames of each split: which have no features yet, and how many have.
func (t *taking) find(ctx context.Context) (have int, err error) {
	for _, set := range t.session.Data.Distinct() {
		v := new(frameView)
		if v.set, v.offsets, err = framesOf(ctx, set); err != nil {
			return 0, err
		}
		v.keys = make([]featureKey, v.set.Len())
		for frame := range v.keys {
			identity, err := loader.Identity(ctx, v.set.Source, frame, 0)
			switch {
			case errors.Is(err, loader.ErrCorrupt): // reading says what is wrong with it
				identity = fmt.Sprintf("%s\x00%d", v.set.Name, frame)
			case err != nil:
				return 0, err
			}
			v.keys[frame] = keyOf(identity)
			if _, known := t.store.rows[v.keys[frame]]; known {
				have++
			} else {
				v.missing = append(v.missing, frame)
			}
		}
		t.views[set] = v
	}
	return have, nil
}

// compute takes the features that are missing, of all in all of them, and returns why pictures have none.
func (t *taking) compute(ctx context.Context, all int) (why map[featureKey]error, err error) {
	s, done := t.session, 0
	why = map[featureKey]error{}
	for _, set := range s.Data.Distinct() {
		v := t.views[set]
		if len(v.missing) == 0 {
			continue
		}
		part, err := loader.Subset(v.set, set.Name, v.missing)
		if err != nil {
			return nil, err
		}
		bad, err := train.Features(ctx, t.backbone.net, part, t.loader(), []model.Layer{t.layer},
			func(bag int, rows [][]float32) error {
				if done++; t.progress != nil {
					t.progress(done, all)
				}
				return t.store.put(ctx, s, v.keys[v.missing[bag]], rows[0])
			})
		err = errors.Join(err, t.store.flush(context.WithoutCancel(ctx), s))
		if err != nil {
			if ctx.Err() != nil && t.store.dir != "" {
				s.Tell(Message{Topic: "features", Text: fmt.Sprintf("%d of %d are kept; the same command goes on", done, all)})
			}
			return nil, Interrupted(err)
		}
		var first []loader.BadSample // the first frame of each bag
		for _, b := range bad {
			frame := v.missing[b.Bag]
			why[v.keys[frame]] = b.Err
			bag := bagOf(v.offsets, frame)
			if len(first) == 0 || first[len(first)-1].Bag != bag {
				first = append(first, loader.BadSample{Bag: bag, Err: b.Err})
			}
		}
		done += len(bad)
		if allowed := s.Config.Data.MaxBadSamples; len(first) > allowed {
			return nil, loader.TooManyBad(set, first, allowed)
		}
	}
	return why, nil
}

// vectors are the features of a split.
func (t *taking) vectors(set *loader.Set, why map[featureKey]error) (loader.Vectors, error) {
	of := t.views[set]
	v := &loader.HeldVectors{Dim: t.width, Rows: make([]float32, len(of.keys)*t.width), Why: make([]error, set.Len()),
		Offsets: of.offsets}
	usable := set.Len()
	for frame, key := range of.keys {
		row, ok := t.store.rows[key]
		if !ok {
			bag := bagOf(of.offsets, frame)
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

// sampled is how many pictures tell how long all last, behind a first batch, which makes buffers.
const sampled = 2 * featureBatch

// sample times a few pictures.
func (t *taking) sample(ctx context.Context) error {
	s := t.session
	learned, _, err := framesOf(ctx, s.Data.Train)
	if err != nil {
		return err
	}
	first := make([]int, min(learned.Len(), featureBatch+sampled))
	for i := range first {
		first[i] = i * (learned.Len() / len(first))
	}
	part, err := loader.Subset(learned, learned.Name, first)
	if err != nil {
		return err
	}
	l := t.loader()
	var began time.Time
	timed := 0
	_, err = train.Features(ctx, t.backbone.net, part, l, []model.Layer{t.layer}, func(bag int, _ [][]float32) error {
		if bag >= featureBatch || len(first) <= featureBatch {
			timed++
		}
		if bag == min(featureBatch, len(first))-1 && len(first) > featureBatch {
			began = time.Now()
		}
		return nil
	})
	if err != nil {
		return Interrupted(err)
	}
	if !began.IsZero() && timed > 0 {
		s.features = time.Duration(float64(time.Since(began)) / float64(timed) * float64(s.framesIn()))
	}
	return s.Data.Replace(func(set *loader.Set) (loader.Vectors, error) {
		frames, offsets, err := framesOf(ctx, set)
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
