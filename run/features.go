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

	"nmn/internal/durable"
	"nmn/internal/memory"
	"nmn/internal/rng"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/train"
)

// FeaturesFolder is the folder of a run, or of an experiment, that keeps what a backbone has made of pictures.
const FeaturesFolder = "features"

// onFeatures reports whether a net learns features: those of files, or those of a backbone.
func (c *Config) onFeatures() bool { return c.Data.Set == dataset.Features || c.Net.Backbone != "" }

// validateBackbone refuses what does not go with features that are taken of pictures once.
func (c *Config) validateBackbone() error {
	n, d := &c.Net, &c.Data
	wrong := func(key, format string, args ...any) error { return setting.Errorf(key, format, args...) }
	switch {
	case n.Backbone == "":
		return wrong("net.backbone_layer", "`net.backbone_layer` is of a pretrained net: name its weights (`net.backbone` FILE)")
	case d.Set == dataset.Features && d.Features.Train.Features != "":
		return wrong("net.backbone", "`net.backbone` takes features of pictures, and `data.features.train.features` are "+
			"features already: leave out one")
	case d.Set != dataset.Manifest && d.Set != dataset.Captions:
		return wrong("net.backbone", "`net.backbone` takes features of pictures in files: name them by `data.manifest`, or by "+
			"`data.captions` and `data.images`; of other data (data.set is %s) take features by nmn extract, and train on those", d.Set)
	case n.Arch != NetMLP:
		return wrong("net.arch", "`net.backbone` is followed by the net mlp, and `net.arch` is %s: leave it out", n.Arch)
	case n.MIL:
		return wrong("net.mil", "`net.mil` joins the cells of pictures, and `net.backbone` gives each picture one vector: leave "+
			"out one")
	case n.Weights != "":
		return wrong("net.weights", "`net.weights` are what the net starts from that learns, behind that of `net.backbone`: "+
			"leave out one")
	case len(n.Depths)+len(n.Widths) > 0 || n.FC6 != 0 || n.FC7 != 0 || n.FC6Kernel != 0 || n.FC6Pad != 0:
		return wrong("net.backbone", "net.depths, widths, fc6, fc7, fc6_kernel and fc6_pad are for nets on pictures that learn; "+
			"behind `net.backbone` there are hidden layers (`net.hidden`)")
	case c.Train.Flip:
		return wrong("train.flip", "`net.backbone` computes features once, of pictures as they are: leave out `train.flip`")
	case n.InputSize < 0 || n.InputSize > picture.MaxCrop:
		return wrong("net.input_size", "net.input_size is %d, want 1 to %d", n.InputSize, picture.MaxCrop)
	case d.VideoLevel == dataset.LevelFrame:
		return wrong("data.video_level", "`net.backbone` gives each clip the mean over its frames: `data.video_level` frame "+
			"has nothing to learn")
	case d.Fit != "":
		return wrong("data.fit", "`net.backbone` knows how pictures are to be cropped: leave out `data.fit`")
	}
	return nil
}

// FeaturesOf is the folder of features of the run that a folder belongs to: its own, or that of a folder above, for a
// stage or a run of an experiment; empty where there is none.
func FeaturesOf(folder string) string {
	at := folder
	for range 4 {
		if own := filepath.Join(at, FeaturesFolder); durable.Exists(own) {
			return own
		}
		at = filepath.Join(at, "..")
	}
	return ""
}

// takeFeatures puts what the backbone of the configuration says of pictures in the place of those, of all splits. What
// the folder has is not computed again. sample takes those of a few pictures, to tell how long all would last, and
// gives the others numbers that mean nothing.
func (s *Session) takeFeatures(ctx context.Context, folder string, sample bool, progress func(done, of int)) (err error) {
	n := &s.Config.Net
	if n.Backbone == "" || s.Data == nil || s.Data.Train.Vectors != nil {
		return nil
	}
	b, err := s.OpenBackbone(ctx, n.Backbone, n.InputSize)
	if err := s.agree(err); err != nil {
		if b != nil {
			err = errors.Join(err, b.Close())
		}
		return err
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	layer := cmp.Or(n.BackboneLayer, b.Info().Default())
	width, err := b.width(layer)
	if err != nil {
		return &setting.Error{Field: "net.backbone_layer", Err: err}
	}
	s.backbone = b.about(layer)
	t := taking{session: s, backbone: b, layer: layer, width: width, progress: progress}
	if sample {
		return t.sample(ctx)
	}
	return t.all(ctx, folder)
}

// checkBeforeFeatures refuses a folder with another run before features are taken for minutes.
func (s *Session) checkBeforeFeatures(dir string) error {
	if !durable.Exists(filepath.Join(dir, ConfigFile)) {
		return nil
	}
	return checkFolder(dir, ofRun, &s.Config)
}

// about describes the backbone for checkpoints.
func (b *Backbone) about(layer model.Layer) *train.Backbone {
	info := b.Info()
	return &train.Backbone{File: b.file, SHA256: b.digest, Net: info.Name, Layer: layer, Pictures: info.Pictures}
}

// FeatureTime is how long it lasts to take the features of all pictures, where the session was to tell; else 0.
func (s *Session) FeatureTime() time.Duration { return s.features }

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
		return fmt.Errorf("%w: take features by nmn extract --weights, and train on the file", err)
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
	text, err := json.Marshal(struct {
		Form      int
		Weights   string
		Pictures  picture.Preprocessing
		Layer     model.Layer
		Precision string
	}{1, t.backbone.digest, t.backbone.Info().Pictures, t.layer, string(t.session.Config.Run.Precision)})
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

// throughBackbone puts features in the place of pictures, where the model has a backbone.
func (m *Model) throughBackbone(ctx context.Context, set *loader.Set, o *Reading) (*loader.Set, error) {
	about := m.checkpoint.Backbone
	if about == nil {
		return set, nil
	}
	if err := m.openBackbone(ctx, about); err != nil {
		return nil, err
	}
	width := m.net.Config().Input
	v := &loader.HeldVectors{Dim: width, Rows: make([]float32, set.Len()*width), Why: make([]error, set.Len())}
	reading := *o
	reading.MaxBadSamples = math.MaxInt32
	bad, err := m.session.passes().Features(ctx, m.backbone.net, set, m.backbone.loader(&reading), []model.Layer{about.Layer},
		func(bag int, rows [][]float32) error {
			if len(rows[0]) != width {
				return fmt.Errorf("%s of %s has %d features, and the model takes %d", about.Layer, about.File, len(rows[0]), width)
			}
			copy(v.Rows[bag*width:], rows[0])
			return nil
		})
	if err != nil {
		return nil, err
	}
	for _, b := range bad {
		v.Why[b.Bag] = b.Err
	}
	featured := *set
	featured.Source, featured.Vectors, featured.Pictures = nil, v, set.Source
	return &featured, nil
}

// openBackbone opens the backbone of the model, if it is not open: the file that it was trained with, with the same
// content.
func (m *Model) openBackbone(ctx context.Context, about *train.Backbone) error {
	if m.backbone != nil {
		return nil
	}
	if !durable.Exists(about.File) {
		return setting.Errorf("", "%s was trained on features of %s (%s, sha256 %.12s…), and there is no such file now: put it "+
			"back, or run the command from the folder where the run was started", m.file, about.File, about.Net, about.SHA256)
	}
	b, err := m.session.OpenBackbone(ctx, about.File, about.Pictures.Crop)
	if err != nil {
		return err
	}
	if b.digest != about.SHA256 {
		return errors.Join(setting.Errorf("", "%s was trained on features of %s as it was then (sha256 %.12s…), and the file has "+
			"changed (%.12s…): put the old one back", m.file, about.File, about.SHA256, b.digest), b.Close())
	}
	m.backbone = b
	return nil
}
