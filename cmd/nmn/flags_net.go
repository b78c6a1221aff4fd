package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/model"
	"nmn/run"
)

// initFlags declare what a classifier starts from.
func initFlags(r group, n *run.NetConfig) {
	r.file(&n.Weights, "init", "`file` that the classifier starts from: .pth, .safetensors, .npz or .caffemodel of "+
		"VGG16 or of a ResNet, such as torchvision's; also as --weights",
		"pth", "pt", "safetensors", "npz", "caffemodel")
	enum(r, &n.WeightsChannels, "init-channels", "`order` of a picture's channels in that file (default bgr of a "+
		".caffemodel, else rgb)", run.ChannelsRGB, run.ChannelsBGR)
	r.bool(&n.WeightsClassifier, "init-classifier", "take the last layer from that file too; without, it is taken "+
		"from a model of nmn with the same words alone")
	r.set.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "weights":
			name = "init"
		case "arch":
			name = "net"
		}
		return pflag.NormalizedName(name)
	})
}

func netFlags(cmd *cobra.Command, c *run.Config) {
	n := &c.Net
	r := under(cmd, "Network")
	enum(r, &n.Arch, "net", "`network` to start from (default that of the data, or of the file that --init "+
		"names); also as --arch", run.NetNames()...)
	r.ints(&n.Hidden, "hidden", "mlp: widths of the hidden layers, as `n,n,...`; none for a linear classifier")
	r.float(&n.Width, "width", "`factor` on the channels of all hidden layers")
	r.int(&n.InputSize, "input-size", "height and width of the input in `pixels` (default that of the network)")
	r.ints(&n.Depths, "depths", "convolutions of each block, as `n,n,...` (default those of the network)")
	r.ints(&n.Widths, "widths", "channels of each block, as `n,n,...` (default those of the network)")
	r.int(&n.FC6, "fc6", "`channels` of fc6 (default that of the network)")
	r.int(&n.FC7, "fc7", "`channels` of fc7 (default that of the network)")
	r.int(&n.FC6Kernel, "fc6-kernel", "height and width of fc6 in `cells` (default that of the network)")
	r.float(&n.Dropout, "dropout", "`share` of fc6 and fc7 set to 0 in training; -1 for that of the network")
	enum(r, &n.NoisePool, "noise-pool", "`pooling` of the features that the noise model sees", "mean", "max")
	r.bool(&n.NoiseDetach, "noise-detach", "keep the noise model's gradient out of the features")
	enum(r, &n.Pixels, "pixels", "`scale` of pixels that vgg16 sees, that of torchvision's weights and random "+
		"starts, or that of Caffe's weights", run.PixelsUnit, run.PixelsRaw)
	initFlags(r, n)
	r.file(&n.Backbone, "backbone", "`file` of a pretrained net, recognised by its tensors, that features of the pictures "+
		"are taken from once, for the net mlp to learn: a vision transformer, a ResNet or a VGG16. --input-size is that "+
		"of its input", "pth", "pt", "bin", "safetensors", "npz", "caffemodel")
	enum(r, &n.BackboneLayer, "backbone-layer", "`layer` of it (default the first that it has)",
		slices.Concat(transformerLayers(), []model.Layer{model.Pool5, model.FC7})...)
	sayOfPretrained(r, &n.BackboneGELU, &n.BackboneHeads, &n.BackboneResize, &n.BackboneMean, &n.BackboneDeviation)
}
