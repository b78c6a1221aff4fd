package scenes

import "nmn/text"

// The classes of the scenes data set, in the order of its vocabulary.
const (
	wordBall int32 = iota
	wordBox
	wordTent
	wordStar
	wordCross
	wordRing
	wordHeart
	wordFish
	wordGrass
	wordSky
	wordSand
	wordWater
	wordNight
	wordRed
	wordGreen
	wordBlue
	wordYellow
	wordWhite
	wordBlack
	wordPurple
	wordOrange
	wordStriped
	wordDotted
	wordSmall
	wordLarge
	wordGlowing
	wordFloating
	wordRunning
	wordSmoking
	wordAbove
	wordBeside
	wordBehind
	wordTwo
	wordMany
	wordAlone
	wordTogether
	classCount = int(iota)

	noWord     int32 = -1 // an attribute that an object lacks, or that a caption leaves out
	shapeCount       = int(wordGrass - wordBall)
	placeCount       = int(wordRed - wordGrass)
	hueCount         = int(wordStriped - wordRed)
	verbCount        = int(wordAbove - wordGlowing)
)

var sceneWords = [classCount]string{
	"ball", "box", "tent", "star", "cross", "ring", "heart", "fish",
	"grass", "sky", "sand", "water", "night",
	"red", "green", "blue", "yellow", "white", "black", "purple", "orange",
	"striped", "dotted", "small", "large",
	"glowing", "floating", "running", "smoking",
	"above", "beside", "behind",
	"two", "many",
	"alone", "together",
}

func partOfSpeech(k int32) text.POS {
	switch {
	case k < wordRed:
		return text.NN
	case k < wordGlowing:
		return text.JJ
	case k < wordAbove:
		return text.VB
	case k < wordTwo:
		return text.IN
	case k < wordAlone:
		return text.DT
	default:
		return text.Others
	}
}
