package ledger

import (
	"slices"
	"strings"
)

// ways are the ways to compute a convolution in bfloat16 from which a card chooses by their times: of each group it
// launches one. A way that begins another stands behind it.
var ways = [][][]string{
	{{"to_bf16", forwardBiasReLU}, {forward, "add_bias_bf16"}, {forwardBiasReLU}}, // the bias is rounded, added apart, or neither
	{{"to_bf16", forwardBias}, {forward, "add_bias_bf16"}, {forwardBias}},
	{{maskedDataGradient, "bias_gradient_bf16"}, {dataGradient, "mask_bias_gradient_bf16"}},
	{{maskedDataGradient}, {dataGradient, "end_gradient_bf16"}},
	{{filterGradient, "from_bf16"}, {filterGradient}}, // rounded once, or not
	// By a kernel of its own, or as above, with a ReLU or without.
	{{firstConv}, {"to_bf16", forwardBiasReLU}, {forward, "add_bias_bf16"}, {forwardBiasReLU}, {"to_bf16", forwardBias}, {forwardBias}},
}

// Instead lists what a card that computes in bfloat16 may launch for an operation instead of the kernels that a
// ledger has: the ways of its convolution, which a card chooses by their times.
func Instead(kernels []string) (all [][]string) {
	at := slices.IndexFunc(kernels, func(k string) bool { return k == firstConv || strings.HasPrefix(k, "cudnn ") })
	if at < 0 {
		return nil
	}
	for _, group := range ways {
		for _, written := range group {
			from := at
			if written[0] == "to_bf16" {
				from--
			}
			if from < 0 || len(kernels)-from < len(written) || !slices.Equal(kernels[from:from+len(written)], written) {
				continue
			}
			for _, way := range group {
				if !slices.Equal(way, written) {
					all = append(all, slices.Concat(kernels[:from], way, kernels[from+len(written):]))
				}
			}
			return all
		}
	}
	return nil
}
