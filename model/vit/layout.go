package vit

import (
	"strings"

	"nmn/loader/picture"
)

// names are a layout's names of tensors. If there are several names, each is tried in turn. An empty list
// means that the layout has no such part. Names of a block are appended to block, in which # stands for the
// number of the block.
type names struct {
	class, registers, position []string
	patch                      []string // with .weight, and perhaps .bias
	pre, norm                  []string // layer norms: .weight and .bias
	block                      string
	norm1, norm2, out          []string
	joined                     []string // queries, keys and values in one: in full but for weight or bias
	apart                      [][3]string
	fc1, fc2                   []string
	scale1, scale2             []string
	projection                 []string // in full
	// transposed is set if the projection is D×E, not E×D.
	transposed bool
	// idle are beginnings of names of tensors that features need nothing of.
	idle []string
}

// layout is a way in which weights of vision transformers are kept.
type layout struct {
	name Layout
	// mark is a tensor that this layout has and the later ones in the list lack. prefixes may precede all
	// names.
	mark     string
	prefixes []string
	names    names
	known    known
}

// layouts are looked for in this order.
var layouts = [...]layout{
	{
		name: Torchvision, mark: "conv_proj.weight", prefixes: []string{""},
		names: names{
			class: []string{"class_token"}, position: []string{"encoder.pos_embedding"}, patch: []string{"conv_proj"},
			norm: []string{"encoder.ln"}, block: "encoder.layers.encoder_layer_#.", norm1: []string{"ln_1"},
			norm2: []string{"ln_2"}, joined: []string{"self_attention.in_proj_"}, out: []string{"self_attention.out_proj"},
			fc1: []string{"mlp.0", "mlp.linear_1"}, fc2: []string{"mlp.3", "mlp.linear_2"}, idle: []string{"heads."},
		},
		known: known{epsilon: 1e-6, gelu: Exact, resampling: Aligned, pictures: picture.TorchvisionPreprocessing()},
	},
	{
		name: OpenAI, mark: "visual.class_embedding", prefixes: []string{""},
		names: names{
			class: []string{"visual.class_embedding"}, position: []string{"visual.positional_embedding"},
			patch: []string{"visual.conv1"}, pre: []string{"visual.ln_pre"}, norm: []string{"visual.ln_post"},
			block: "visual.transformer.resblocks.#.", norm1: []string{"ln_1"}, norm2: []string{"ln_2"},
			joined: []string{"attn.in_proj_"}, out: []string{"attn.out_proj"}, fc1: []string{"mlp.c_fc"},
			fc2: []string{"mlp.c_proj"}, projection: []string{"visual.proj"}, transposed: true,
			idle: []string{"transformer.", "token_embedding.", "positional_embedding", "ln_final.", "text_projection",
				"logit_scale", "logit_bias", "input_resolution", "context_length", "vocab_size"},
		},
		known: known{epsilon: 1e-5, gelu: Quick, resampling: Antialiased, pictures: picture.CLIPPreprocessing()},
	},
	{
		name: HFCLIP, mark: "embeddings.class_embedding", prefixes: []string{"vision_model.", ""},
		names: names{
			class: []string{"embeddings.class_embedding"}, position: []string{"embeddings.position_embedding.weight"},
			patch: []string{"embeddings.patch_embedding"}, pre: []string{"pre_layrnorm"}, norm: []string{"post_layernorm"},
			block: "encoder.layers.#.", norm1: []string{"layer_norm1"}, norm2: []string{"layer_norm2"},
			apart: [][3]string{{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
			out:   []string{"self_attn.out_proj"}, fc1: []string{"mlp.fc1"}, fc2: []string{"mlp.fc2"},
			projection: []string{"visual_projection.weight"},
			idle:       []string{"text_model.", "text_projection.", "logit_scale", "embeddings.position_ids", "classifier."},
		},
		known: known{epsilon: 1e-5, gelu: Quick, resampling: Plain, pictures: picture.CLIPPreprocessing()},
	},
	{
		name: HFDINOv2, mark: "embeddings.patch_embeddings.projection.weight",
		prefixes: []string{"", "dinov2.", "dinov2_with_registers."},
		names: names{
			class: []string{"embeddings.cls_token"}, registers: []string{"embeddings.register_tokens"},
			position: []string{"embeddings.position_embeddings"}, patch: []string{"embeddings.patch_embeddings.projection"},
			norm: []string{"layernorm"}, block: "encoder.layer.#.", norm1: []string{"norm1"}, norm2: []string{"norm2"},
			apart: [][3]string{
				{"attention.attention.query", "attention.attention.key", "attention.attention.value"},
				{"attention.q_proj", "attention.k_proj", "attention.v_proj"},
			},
			out: []string{"attention.output.dense", "attention.o_proj"}, fc1: []string{"mlp.fc1"}, fc2: []string{"mlp.fc2"},
			scale1: []string{"layer_scale1.lambda1"}, scale2: []string{"layer_scale2.lambda1"},
			idle: []string{"embeddings.mask_token", "classifier."},
		},
		known: known{epsilon: 1e-6, gelu: Exact, resampling: Plain, withRegisters: Antialiased,
			pictures: picture.DINOv2Preprocessing(), fixed: true},
	},
	{
		name: DINOv2, mark: "mask_token", prefixes: []string{""}, names: dinoNames(),
		known: known{epsilon: 1e-6, gelu: Exact, resampling: Offset, withRegisters: Antialiased,
			pictures: picture.DINOv2Preprocessing(), fixed: true},
	},
	{
		name: TimmDINOv2, mark: "blocks.0.ls1.gamma", prefixes: []string{""}, names: dinoNames(),
		known: known{epsilon: 1e-6, gelu: Exact, resampling: Antialiased, pictures: picture.DINOv2Preprocessing(),
			fixed: true},
	},
	{
		name: TimmCLIP, mark: "norm_pre.weight", prefixes: []string{""}, names: dinoNames(),
		known: known{epsilon: 1e-5, gelu: Exact, resampling: Antialiased, pictures: picture.CLIPPreprocessing()},
	},
	{
		name: Timm, mark: "patch_embed.proj.weight", prefixes: []string{""}, names: dinoNames(),
		known: known{epsilon: 1e-6, gelu: Exact, resampling: Antialiased, pictures: timmPreprocessing()},
	},
}

// dinoNames are timm's names, which Meta's DINOv2 also uses.
func dinoNames() names {
	return names{
		class: []string{"cls_token"}, registers: []string{"reg_token", "register_tokens"}, position: []string{"pos_embed"},
		patch: []string{"patch_embed.proj"}, pre: []string{"norm_pre"}, norm: []string{"norm"}, block: "blocks.#.",
		norm1: []string{"norm1"}, norm2: []string{"norm2"}, joined: []string{"attn.qkv."}, out: []string{"attn.proj"},
		fc1: []string{"mlp.fc1"}, fc2: []string{"mlp.fc2"}, scale1: []string{"ls1.gamma"}, scale2: []string{"ls2.gamma"},
		idle: []string{"head.", "pre_logits.", "mask_token"},
	}
}

// known are properties that tensors do not show.
type known struct {
	epsilon    float32
	gelu       GELU
	resampling Interpolation
	// withRegisters is the interpolation of nets with registers, if it differs.
	withRegisters Interpolation
	// pictures is the layout's preparation of pictures. It depends on the size of the position embeddings, or
	// is fixed.
	pictures picture.Preprocessing
	fixed    bool
}

// timmPreprocessing is the preparation of timm's nets trained on ImageNet-21k, such as vit_base_patch16_224.
func timmPreprocessing() picture.Preprocessing {
	half := [3]float32{.5, .5, .5}
	return picture.Preprocessing{Resize: 248, Filter: picture.FilterBicubic, Crop: 224, Mean: half, Deviation: half}
}

// heads returns the number of heads of published nets of a width: one for each 64 numbers, except for the
// largest. It returns 0 if unknown.
func heads(width int) int {
	switch {
	case width == 1280, width == 1408, width == 1664: // ViT-H, g and G
		return 16
	case width%64 != 0:
		return 0
	}
	return width / 64
}

// find looks for the layout of names, and for their prefix.
func find(has func(name string) bool) (*layout, string) {
	for i := range layouts {
		l := &layouts[i]
		for _, prefix := range l.prefixes {
			if has(prefix+l.mark) && has(prefix+l.names.patch[0]+".weight") {
				return l, prefix
			}
		}
	}
	return nil, ""
}

// isIdle reports whether features need nothing of a tensor.
func (n *names) isIdle(name string) bool {
	for _, start := range n.idle {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}
