package s2vt

// site is a place with dropout in the net.
type site int

const (
	frameSite  site = iota // input of LSTM 1
	wordSite               // words that LSTM 2 sees
	outputSite             // output of LSTM 2
)

// sitePurpose keeps the masks of the sites apart.
var sitePurpose = []string{frameSite: "s2vt/frame", wordSite: "s2vt/word", outputSite: "s2vt/said"}
