package main

import (
	"nmn/run"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func checkpointFlag(r room, v *run.Checkpoint) {
	enum(r, v, "checkpoint", "of a run folder, the `checkpoint` to take", run.Last, run.Best)
}

func completeModels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// initFlags declare what a classifier starts from.
func initFlags(r room, n *run.NetConfig) {
	r.file(&n.Weights, "init", "`file` that the classifier starts from: .pth, .safetensors, .npz or .caffemodel of VGG16, such as torchvision's; also as --weights",
		"pth", "pt", "safetensors", "npz", "caffemodel")
	enum(r, &n.WeightsChannels, "init-channels", "`order` of a picture's channels in that file (default bgr of a .caffemodel, else rgb)", run.ChannelsRGB, run.ChannelsBGR)
	r.bool(&n.WeightsClassifier, "init-classifier", "take the last layer from that file too; without, it is taken from a model of nmn with the same words alone")
	r.set.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "weights" {
			name = "init"
		}
		return pflag.NormalizedName(name)
	})
}
