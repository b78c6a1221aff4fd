package ledger

import (
	"slices"
	"strings"
)

// way is one of several ways to compute a convolution in bfloat16, from which a card chooses by their times.
type way struct{ written, instead []string }

// ways are those that a ledger writes down, and what a card may launch instead of them.
var ways = []way{
	{[]string{forwardBiasReLU}, []string{"to_bf16", forwardBiasReLU}}, // the bias is rounded: cuDNN has more plans
	{[]string{forwardBias}, []string{"to_bf16", forwardBias}},
	{[]string{forwardBiasReLU}, []string{forward, "add_bias_bf16"}},
	{[]string{forwardBias}, []string{forward, "add_bias_bf16"}},
	{[]string{dataGradient, "end_gradient_bf16"}, []string{dataGradient + "+relu"}}, // cuDNN masks
	{[]string{dataGradient, "masked_bias_bf16"}, []string{dataGradient + "+relu", "bias_gradient_bf16"}},
	{[]string{filterGradient}, []string{filterGradient, "from_bf16"}}, // rounded once
}

// Instead lists what a card that computes in bfloat16 may launch for an operation instead of the kernels that a
// ledger has: the ways of its convolution, which a card chooses by their times.
func Instead(kernels []string) (all [][]string) {
	for _, w := range ways {
		at := slices.IndexFunc(kernels, func(k string) bool { return strings.HasPrefix(k, "cudnn ") })
		if at < 0 || len(kernels)-at < len(w.written) || !slices.Equal(kernels[at:at+len(w.written)], w.written) {
			continue
		}
		all = append(all, slices.Concat(kernels[:at], w.instead, kernels[at+len(w.written):]))
	}
	return all
}
