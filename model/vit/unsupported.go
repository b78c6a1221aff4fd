package vit

import "strings"

const swiGLU = "SwiGLU (as DINOv2's largest net, giant, has it)"

// unsupported lists parts of vision transformers that are not computed here, by substrings of their tensors'
// names.
var unsupported = [...]struct{ part, what string }{
	{".mlp.w12.", swiGLU},
	{".mlp.weights_in.", swiGLU},
	{".mlp.fc1_g.", swiGLU},
	{".q_norm.", "norms of queries and keys"},
	{"attn_pool.", "pooling by attention (as SigLIP has it)"},
	{"dist_token", "a token of distillation (as DeiT's has it)"},
	{"relative_position_bias", "relative positions (as BEiT has them)"},
	{".rel_pos_", "relative positions (as SAM has them)"},
	{"rope", "rotary positions"},
	{"fc_norm.", "a norm after the mean of patches"},
	{"patch_embed.backbone.", "convolutions before its patches"},
	{".layernorm_before.", "the names of Hugging Face's ViT: timm has the same nets"},
	{"decoder_blocks.", "a decoder (of masked autoencoding)"},
}

// refuseUnsupported names the first part that is not computed here.
func (r *reader) refuseUnsupported() error {
	for _, name := range r.file.Names() {
		if r.names.isIdle(name) {
			continue
		}
		for _, u := range unsupported {
			if strings.Contains(name, u.part) {
				r.fail("%q: it has %s, which is not computed here", name, u.what)
				return r.err
			}
		}
	}
	return nil
}

// refusePacked names SwiGLU if gate and values are packed into one layer, as in timm: its first layer is then
// twice as wide as the input of the second one.
func (r *reader) refusePacked(fc2 string, hidden int) {
	if fc2 == "" {
		return
	}
	if shape := r.shape(fc2); len(shape) == 2 && shape[1] > 0 && hidden == 2*shape[1] {
		r.fail("%q takes %d of %d numbers: it has %s, which is not computed here", fc2, shape[1], hidden, swiGLU)
	}
}
