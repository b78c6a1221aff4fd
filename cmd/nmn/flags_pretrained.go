package main

import (
	"errors"
	"strings"

	"nmn/internal/setting"
	"nmn/model/backbone"
	"nmn/model/vit"
)

// pretrainedFlags declare what the tensors of a pretrained net do not say, apart from the size of its input.
func pretrainedFlags(r group, o *backbone.Options) {
	enum(r, &o.GELU, "gelu", "a transformer's `form` of GELU, if it is not that of the published nets of its layout: "+
		"CLIP by LAION has exact, in layouts where OpenAI's has quick", vit.Exact, vit.Tanh, vit.Quick)
	r.int(&o.Heads, "heads", "a transformer's `number` of heads, if it is not a 64th of its width")
	r.int(&o.Resize, "input-resize", "`pixels` of the shorter side of a picture before the middle is cut out (default "+
		"such that the net's share is)")
	r.float32s(&o.Mean, "input-mean", "`red,green,blue` from 0 to 1 that the net subtracts from pixels (default its "+
		"layout's)")
	r.float32s(&o.Deviation, "input-deviation", "`red,green,blue` from 0 to 1 that it divides them by (default its "+
		"layout's)")
}

// checkPretrained checks these flags, and names the one that is wrong.
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
