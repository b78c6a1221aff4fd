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
)

// taking is a pass of a backbone over the splits of a session.
type taking struct {
	session  *Session
	backbone *Backbone
	layer    model.Layer
	width    int
	progress func(done, of int)

	store *featureStore
	keys  map[*loader.Set][]featureKey
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
	bags := 0
	for _, set := range s.Data.Distinct() {
		bags += set.Len()
	}
	if err := s.agree(memory.Check(fmt.Sprintf("features of %d pictures", bags), int64(bags)*int64(t.width)*8)); err != nil {
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
	t.store, t.keys = newFeatureStore(folder, t.width, s.leads()), map[*loader.Set][]featureKey{}
	release, err := t.store.open(ctx, s)
	if err := s.agree(err); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := t.store.share(s); err != nil {
		return err
	}
	missing, have, err := t.missing()
	if err := s.agree(err); err != nil {
		return err
	}
	text := fmt.Sprintf("the features of %d pictures are taken", bags-have)
	if have > 0 {
		text = fmt.Sprintf("those of %d pictures were taken before; %d are left", have, bags-have)
	}
	s.Tell(Message{Topic: "features", Text: text, Detail: have == bags})
	why, err := t.compute(ctx, missing, bags-have)
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

// missing finds the bags of each split that have no features yet, and how many have.
func (t *taking) missing() (missing map[*loader.Set][]int, have int, err error) {
	missing = map[*loader.Set][]int{}
	for _, set := range t.session.Data.Distinct() {
		keys := make([]featureKey, set.Len())
		for bag := range keys {
			identity, err := loader.Identity(set.Source, bag)
			switch {
			case errors.Is(err, loader.ErrCorrupt): // reading says what is wrong with it
				identity = fmt.Sprintf("%s\x00%d", set.Name, bag)
			case err != nil:
				return nil, 0, err
			}
			keys[bag] = keyOf(identity)
			if _, known := t.store.rows[keys[bag]]; known {
				have++
			} else {
				missing[set] = append(missing[set], bag)
			}
		}
		t.keys[set] = keys
	}
	return missing, have, nil
}

// compute takes the features that are missing, of all in all of them, and returns why bags have none.
func (t *taking) compute(ctx context.Context, missing map[*loader.Set][]int,
	all int) (why map[featureKey]error, err error) {
	s, done := t.session, 0
	why = map[featureKey]error{}
	for _, set := range s.Data.Distinct() {
		bags := missing[set]
		if len(bags) == 0 {
			continue
		}
		part, err := loader.Subset(set, set.Name, bags)
		if err == nil {
			err = t.backbone.sameBags(part)
		}
		if err != nil {
			return nil, err
		}
		bad, err := s.passes().Features(ctx, t.backbone.net, part, t.loader(), []model.Layer{t.layer},
			func(bag int, rows [][]float32) error {
				if done++; t.progress != nil && s.leads() {
					t.progress(done, all)
				}
				return t.store.put(ctx, s, t.keys[set][bags[bag]], rows[0])
			})
		err = s.agree(errors.Join(err, t.store.flush(context.WithoutCancel(ctx), s)))
		if err != nil {
			if ctx.Err() != nil && t.store.dir != "" {
				s.Tell(Message{Topic: "features", Text: fmt.Sprintf("%d of %d are kept; the same command goes on", done, all)})
			}
			return nil, Interrupted(err)
		}
		for _, b := range bad {
			why[t.keys[set][bags[b.Bag]]] = b.Err
		}
		done += len(bad)
		if allowed := s.Config.Data.MaxBadSamples; len(bad) > allowed {
			return nil, loader.TooManyBad(part, bad, allowed)
		}
	}
	return why, nil
}

// vectors are the features of a split.
func (t *taking) vectors(set *loader.Set, why map[featureKey]error) (loader.Vectors, error) {
	keys := t.keys[set]
	v := &loader.HeldVectors{Dim: t.width, Rows: make([]float32, len(keys)*t.width), Why: make([]error, len(keys))}
	for bag, key := range keys {
		row, ok := t.store.rows[key]
		if !ok {
			v.Why[bag] = cmp.Or(why[key], fmt.Errorf("%w: its features are missing", loader.ErrCorrupt))
			continue
		}
		copy(v.Rows[bag*t.width:], row)
	}
	return v, nil
}

// sampled is how many pictures tell how long all last, behind a first batch, which makes buffers.
const sampled = 2 * featureBatch

// sample times a few pictures.
func (t *taking) sample(ctx context.Context) error {
	s, train := t.session, t.session.Data.Train
	first := make([]int, min(train.Len(), featureBatch+sampled))
	for i := range first {
		first[i] = i * (train.Len() / len(first))
	}
	part, err := loader.Subset(train, train.Name, first)
	if err != nil {
		return err
	}
	l := t.loader()
	var began time.Time
	timed := 0
	_, err = s.passes().Features(ctx, t.backbone.net, part, l, []model.Layer{t.layer}, func(bag int, _ [][]float32) error {
		if bag >= featureBatch || len(first) <= featureBatch {
			timed++
		}
		if bag == min(featureBatch, len(first))-1 && len(first) > featureBatch {
			began = time.Now()
		}
		return nil
	})
	if err := s.agree(Interrupted(err)); err != nil {
		return err
	}
	bags := 0
	for _, set := range s.Data.Distinct() {
		bags += set.Len()
	}
	if !began.IsZero() && timed > 0 {
		s.features = time.Duration(float64(time.Since(began)) / float64(timed) * float64(bags))
	}
	return s.Data.Replace(func(set *loader.Set) (loader.Vectors, error) {
		v := &loader.HeldVectors{Dim: t.width, Rows: make([]float32, set.Len()*t.width)}
		random := rng.New(1)
		for i := range v.Rows {
			v.Rows[i] = float32(random.Uint32()) / (1 << 32)
		}
		return v, nil
	})
}
