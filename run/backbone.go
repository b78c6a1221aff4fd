package run

import (
	"cmp"
	"context"
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/model"
	"nmn/model/backbone"
	runfeatures "nmn/run/features"
	"nmn/text"
)

// Backbone is a pretrained net on the device of a session, which takes features of pictures. It must be closed, and is
// for one goroutine at a time.
type Backbone struct {
	net     *runfeatures.Backbone
	session *Session
	owned   bool // the session exists for this net alone
}

// OpenBackbone opens the pretrained net of a file of weights. about says what its tensors do not.
func OpenBackbone(ctx context.Context, path string, about backbone.Options, o ModelOptions) (*Backbone, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := o.session()
	s.forward = true
	if err := s.openDevice(); err != nil {
		return nil, err
	}
	b, err := s.OpenBackbone(ctx, path, about)
	if err != nil {
		return nil, cmp.Or(err, s.Close())
	}
	b.owned = true
	return b, nil
}

// OpenBackbone opens the pretrained net of a file of weights on the device of the session, and says which it is.
func (s *Session) OpenBackbone(ctx context.Context, path string, about backbone.Options) (*Backbone, error) {
	net, err := runfeatures.Open(ctx, path, about, s.Backend)
	if err != nil {
		return nil, err
	}
	net.Workers, net.Prefetch = s.Config.Run.Workers, s.Config.Run.Prefetch
	s.Log.Info("backbone", "file", path, "net", net.Info().Name, "sha256", net.Digest)
	s.Notify(Message{Topic: "net", Text: net.Info().String()})
	return &Backbone{net: net, session: s}, nil
}

// Close gives back the memory of the net, and the device that was opened for it.
func (b *Backbone) Close() error {
	err := b.net.Close()
	if b.owned {
		err = cmp.Or(err, b.session.Close())
	}
	return err
}

// Info describes the net: its name, its layers, and what it wants of pictures.
func (b *Backbone) Info() *backbone.Info { return b.net.Info() }

// Extract takes features of pictures, or without paths of a split of the data of the session, as Model.Extract does. No
// layer is the usual one of the net.
func (b *Backbone) Extract(ctx context.Context, paths []string, o ExtractOptions) ([]runfeatures.Extracted, error) {
	if len(o.Layers) == 0 {
		o.Layers = []model.Layer{b.Info().Default()}
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	for _, layer := range o.Layers {
		if _, err := b.net.Width(layer); err != nil {
			return nil, &setting.Error{Key: "extract.layer", Reason: err}
		}
	}
	x, c := extraction{backboneRows{b.net}, b.session, &o}, &b.session.Config
	if len(paths) > 0 {
		// a set has labels; these are never read
		words, err := text.NewVocabulary([]text.Word{{Text: "picture", POS: text.Others}})
		if err != nil {
			return nil, err
		}
		return x.ofPictures(ctx, paths, words, b.net.Loader(o.Batch, o.MaxBadSamples, o.MaxPixels), b.net.About(""),
			c.Run.Precision)
	}
	if b.session.Data == nil {
		return nil, setting.Errorf("", "extract: name pictures, a folder of them, or data")
	}
	set, err := b.session.Data.Split(o.Split)
	if err != nil {
		return nil, err
	}
	return x.ofSplit(ctx, set, b.session, b.net.Loader(o.Batch, c.Data.MaxBadSamples, c.Data.MaxPixels), b.net.About(""),
		c.Run.Precision, c.Data, o.Split, o.Shard)
}

// backboneRows are the rows of a backbone. It is an error if none of the pictures can be read.
type backboneRows struct{ *runfeatures.Backbone }

func (b backboneRows) Rows(ctx context.Context, set *loader.Set, l loader.Config, layers []model.Layer,
	write func(bag int, rows [][]float32) error) ([]loader.BadSample, error) {
	written := false
	bad, err := b.Backbone.Rows(ctx, set, l, layers, func(bag int, rows [][]float32) error {
		written = true
		return write(bag, rows)
	})
	if err == nil && !written && len(bad) > 0 {
		err = loader.NoneUsable(set, bad[0].Err)
	}
	return bad, err
}

// takeFeatures replaces the pictures of all splits by features that the backbone of the configuration computes from
// them. Features that the folder holds are not computed again. If sample is set, takeFeatures computes the features of
// a few pictures only, to estimate the time for all, and fills the others with meaningless numbers.
func (s *Session) takeFeatures(ctx context.Context, folder string, sample bool, progress func(done, of int)) (
	err error) {
	n := &s.Config.Net
	if n.Backbone == "" || s.Data == nil || s.Data.Train.Vectors != nil {
		return nil
	}
	opened, err := s.OpenBackbone(ctx, n.Backbone, n.BackboneOptions())
	if err != nil {
		return err
	}
	b := opened.net
	defer func() { err = cmp.Or(err, b.Close()) }()
	layer := cmp.Or(n.BackboneLayer, b.Info().Default())
	if _, err := b.Width(layer); err != nil {
		return &setting.Error{Key: "net.backbone_layer", Reason: err}
	}
	s.Backbone = b.About(layer)
	o := &runfeatures.Options{Data: s.Data, Layer: layer, Precision: s.Config.Run.Precision,
		MaxPixels: s.Config.Data.MaxPixels, MaxBadSamples: s.Config.Data.MaxBadSamples, Log: s.Log,
		Notify: func(text string, detail bool) { s.Notify(Message{Topic: "features", Text: text, Detail: detail}) },
		Save:   s.Ranks.Save, Progress: progress}
	if sample {
		s.FeatureTime, err = b.Sample(ctx, o)
	} else {
		err = b.Take(ctx, folder, o)
	}
	return Interrupted(err)
}

// FeaturesFolder is the folder of a run, or of an experiment, that keeps what a backbone has made of pictures.
const FeaturesFolder = "features"

// OnFeatures reports whether a net learns features, of files or of a backbone.
func (c *Config) OnFeatures() bool { return c.Data.Set == dataset.Features || c.Net.Backbone != "" }

const noCells = "`net.mil` joins the frames of clips, but `net.backbone` makes one vector of a picture, and " +
	"these data are no clips: leave out one of the two"

// validateBackbone refuses what does not go with features that are taken of pictures once.
func (c *Config) validateBackbone() error {
	n, d := &c.Net, &c.Data
	wrong := func(key, format string, args ...any) error { return setting.Errorf(key, format, args...) }
	switch {
	case n.Backbone == "":
		return wrong("net.backbone", "`net.backbone_layer`, `net.backbone_gelu`, `net.backbone_heads`, "+
			"`net.backbone_resize`, `net.backbone_mean` and `net.backbone_deviation` need a pretrained net: name its weights "+
			"(`net.backbone` FILE)")
	case d.Set == dataset.Features && d.Features.Train.Features != "":
		return wrong("net.backbone", "`net.backbone` takes features of pictures, and `data.features.train.features` are "+
			"features already: leave out one")
	case d.Set == dataset.Features:
		return wrong("net.backbone", "`net.backbone` takes features of pictures: name them by `data.manifest`, by "+
			"`data.captions` and `data.images`, or by data of clips or scenes")
	case n.Arch != NetMLP:
		return wrong("net.arch", "`net.backbone` is followed by the net mlp, and `net.arch` is %s: leave it out, and with "+
			"it a preset of another net", n.Arch)
	case n.MIL && !d.Videos() && d.Set != dataset.Manifest:
		return wrong("net.mil", noCells)
	case n.Weights != "":
		return wrong("net.weights", "`net.weights` would start the net that is trained on the features of `net.backbone`: "+
			"leave out one")
	case len(n.Depths)+len(n.Widths) > 0 || n.FC6 != 0 || n.FC7 != 0 || n.FC6Kernel != 0 || n.FC6Pad != 0:
		return wrong("net.backbone", "net.depths, widths, fc6, fc7, fc6_kernel and fc6_pad are for nets on pictures that "+
			"learn; on top of `net.backbone` use hidden layers (`net.hidden`)")
	case c.Train.Flip:
		return wrong("train.flip", "`net.backbone` computes features once, of pictures as they are: leave out `train.flip`")
	case d.Fit != "":
		return wrong("data.fit", "`net.backbone` decides how pictures are cropped: leave out `data.fit`")
	}
	options := n.BackboneOptions()
	if err := options.Validate(); err != nil {
		return &setting.Error{Key: "net.backbone", Reason: err}
	}
	return nil
}

// CheckInstances refuses noisy-or over single pictures with a backbone. videos says whether the data have bags
// of several frames.
func (c *Config) CheckInstances(videos bool) error {
	if c.Net.Backbone == "" || !c.Net.MIL || videos {
		return nil
	}
	return setting.Errorf("net.mil", noCells)
}

// FeaturesOf returns the folder of features of the run that a folder belongs to: its own, or for a stage or a
// run of an experiment the one of a folder above. It is empty if there is none.
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
