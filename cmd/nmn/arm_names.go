package main

import (
	"slices"

	"nmn/model"
	"nmn/train"
)

type armName string

// The arms of the paper: stage 1 alone, and three ways to go on from it.
const (
	armStage1 armName = "stage1"
	armStar   armName = "star" // VGG16*: more epochs without a noise model, the fair baseline
	armFI     armName = "nmn-fi"
	armFD     armName = "nmn-fd"
)

// The arms of the recipe, whose rates are estimated before and held: R-N learns through the noise model,
// R-S from what is believed of each label by nets that have not seen it.
const (
	armRN armName = "r-n"
	armRS armName = "r-s"
)

// Rival arms: fresh nets that learn for as many epochs as both stages have together.
const (
	armStarEarly   armName = "star-early"   // star, ended where the loss on held-out noisy labels is least
	armForward     armName = "forward"      // through a transition matrix that is held (Patrini et al., 2017)
	armForwardTrue armName = "forward-true" // through the true one of the training labels
	armASL         armName = "asl"          // by the losses of these names
	armLLR         armName = "ll-r"
	armLLCt        armName = "ll-ct"
	armPruned      armName = "pruned" // without the labels that the out-of-fold audit believes wrong
	armClean       armName = "clean"  // from the true labels: the ceiling
)

func arms() []armName { return []armName{armStage1, armStar, armFI, armFD} }

func rivals() []armName {
	return []armName{armStarEarly, armForward, armForwardTrue, armASL, armLLR, armLLCt, armPruned, armClean}
}

// allArms are those of the paper, of the recipe and rivals, in the order in which they are trained.
func allArms() []armName { return slices.Concat(arms(), []armName{armRN, armRS}, rivals()) }

// fresh tells whether an arm trains a net of its own for as long as both stages, instead of going on from
// stage 1.
func (a armName) fresh() bool { return slices.Contains(rivals(), a) }

// noiseMode is the noise model that an arm trains through, or holds.
func (a armName) noiseMode() model.NoiseMode {
	switch a {
	case armFI, armRN, armRS, armForward, armForwardTrue:
		return model.FeatureIndependent
	case armFD:
		return model.FeatureDependent
	}
	return model.NoNoise
}

// trained is the arm as package train knows it.
func (a armName) trained(mil bool) (train.Arm, error) {
	known := a
	switch {
	case a == armRN || a == armRS:
		known = armFI // the recipe is in how they are trained
	case a.fresh():
		known = armStage1
	}
	arm, err := train.ArmNamed(string(known) + suffixOf(mil))
	if err == nil && known != a {
		arm.Name, arm.Noise = string(a)+suffixOf(mil), a.noiseMode()
	}
	return arm, err
}

func suffixOf(mil bool) string {
	if mil {
		return "-mil"
	}
	return ""
}
