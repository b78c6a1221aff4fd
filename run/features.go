package run

import (
	"path/filepath"

	"nmn/internal/durable"
	"nmn/internal/setting"
	"nmn/loader/dataset"
)

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
