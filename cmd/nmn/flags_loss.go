package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"nmn/internal/setting"
	"nmn/train"
)

const lossName = "loss"

// lossFlag is --loss: a loss with the parameters of its paper, which other flags change.
type lossFlag struct{ target *train.LossConfig }

func (l lossFlag) String() string {
	if l.target == nil {
		return ""
	}
	return l.target.Name()
}

func (l lossFlag) Set(s string) error {
	if !slices.Contains(train.Losses(), s) {
		return fmt.Errorf("want %s", setting.Alternatives(train.Losses()))
	}
	*l.target = train.PaperLoss(s)
	return nil
}

func (l lossFlag) Type() string { return "choice" }

func lossFlags(cmd *cobra.Command, l *train.LossConfig) {
	r := under(cmd, "Loss")
	r.value(lossFlag{l}, l, lossName, "`loss` of the classifier, for arms without a noise model: bce, asl "+
		"(asymmetric), or ll-r and ll-ct, which leave out or correct "+
		"the labels 0 with the largest losses of a batch; the flags below change the parameters of its paper")
	r.completes(lossName, train.Losses()...)
	r.float(&l.GammaNegative, "asl-gamma-negative", "asl: `exponent` that weighs labels 0, 4 in its paper")
	r.float(&l.GammaPositive, "asl-gamma-positive", "asl: `exponent` that weighs labels 1, 0 in its paper")
	r.float(&l.Margin, "asl-margin", "asl: `probability` below which a label 0 has no loss, .05 in its paper")
	r.float(&l.Delta, "ll-delta", "ll-r, ll-ct: `percentage` of a batch's labels by which their share grows in each "+
		"epoch, from 0 in the first; .1 to .5 in their paper, .2 by --loss")
}
