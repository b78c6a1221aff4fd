package main

import (
	"errors"
	"strings"

	"nmn/internal/setting"
	"nmn/model/backbone"
	"nmn/model/vit"
)

// pretrainedFlags declares the properties of a pretrained net that its tensors do not show, except the input size.
func pretrainedFlags(r group, o *backbone.Options) {
	enum(r, &o.GELU, "gelu", "compute a transformer's GELU in this `form`", vit.Exact, vit.Tanh, vit.Quick)
	r.int(&o.Heads, "heads", "set the `number` of heads of a transformer")
	r.int(&o.Resize, "input-resize", "resize the shorter side to this many `pixels` before cropping")
	r.float32s(&o.Mean, "input-mean", "subtract `red,green,blue`, 0 to 1, from pixels")
	r.float32s(&o.Deviation, "input-deviation", "divide pixels by `red,green,blue`, 0 to 1")
}

// checkPretrained checks these flags and names a wrong flag.
func checkPretrained(o *backbone.Options) error {
	err := o.Validate()
	if err == nil {
		return nil
	}
	named := strings.NewReplacer("`", "", "net.backbone_gelu", "--gelu", "net.backbone_heads", "--heads",
		"net.backbone_resize", "--input-resize", "net.backbone_mean", "--input-mean", "net.backbone_deviation",
		"--input-deviation", "net.input_size", "--input-size").Replace(err.Error())
	return &setting.Error{Reason: errors.New(named)}
}
