package main

import (
	"nmn/model/backbone"
	"nmn/model/vit"
)

// pretrainedFlags declare what the tensors of a pretrained net do not say, apart from the size of its input.
func pretrainedFlags(r group, o *backbone.Options) {
	sayOfPretrained(r, &o.GELU, &o.Heads, &o.Resize, &o.Mean, &o.Deviation)
}

// sayOfPretrained declares the same for wherever it is kept.
func sayOfPretrained(r group, gelu *vit.GELU, heads, resize *int, mean, deviation *[]float32) {
	enum(r, gelu, "gelu", "a transformer's `form` of GELU, where it is not that of the published nets of its layout: "+
		"CLIP by LAION has exact, in layouts where OpenAI's has quick", vit.Exact, vit.Tanh, vit.Quick)
	r.int(heads, "heads", "a transformer's `number` of heads, where it is not a 64th of its width")
	r.int(resize, "input-resize", "`pixels` of the shorter side of a picture before the middle is cut out (default such "+
		"that the net's share is)")
	r.float32s(mean, "input-mean", "`red,green,blue` from 0 to 1 that the pretrained net has subtracted from pixels "+
		"(default as the net's layout)")
	r.float32s(deviation, "input-deviation", "`red,green,blue` from 0 to 1 that they are divided by")
}
