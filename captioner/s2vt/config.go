package s2vt

import "fmt"

// Word ids that every vocabulary has.
const (
	PAD = 0 // no word; never learned and never said
	BOS = 1 // before the first word; never said
	EOS = 2 // after the last one
	// Reserved is the first id of a word that a caption may have.
	Reserved = 3
)

// Config describes a captioner. The zero value is not useful: start from Paper.
type Config struct {
	Frames     int `yaml:"frames" json:"frames"`         // most frames of a clip
	Features   int `yaml:"features" json:"features"`     // F: width of a frame's features
	Vocabulary int `yaml:"vocabulary" json:"vocabulary"` // V: words, PAD, BOS and EOS among them
	Embedding  int `yaml:"embedding" json:"embedding"`   // E: width that features are brought to
	Words      int `yaml:"words" json:"words"`           // D: width of word vectors
	Hidden     int `yaml:"hidden" json:"hidden"`         // H: cells of each LSTM
	// Dropout is the share of 0s, in [0, 1), put into the input of LSTM 1 (embedded frames), the words that
	// LSTM 2 sees, and the output of LSTM 2 before the softmax. Recurrent connections have none.
	Dropout float64 `yaml:"dropout" json:"dropout"`
}

// Paper is the captioner of section 4.4 of the paper: 26 frames, features embedded in 700 and words in 300
// dimensions, 700 cells. Dropout .5 is the choice of S2VT's authors.
func Paper(features, vocabulary int) Config {
	return Config{
		Frames:     26,
		Features:   features,
		Vocabulary: vocabulary,
		Embedding:  700,
		Words:      300,
		Hidden:     700,
		Dropout:    .5,
	}
}

// most bounds every size; it keeps products of two of them within an int64.
const most = 1 << 24

// Validate names the first field that is out of range.
func (c Config) Validate() error {
	for _, f := range []struct {
		name       string
		value, low int
	}{
		{"frames", c.Frames, 1}, {"features", c.Features, 1}, {"vocabulary", c.Vocabulary, Reserved + 1},
		{"embedding", c.Embedding, 1}, {"words", c.Words, 1}, {"hidden", c.Hidden, 1},
	} {
		if f.value < f.low || f.value > most {
			return fmt.Errorf("s2vt: %s is %d, want %d to %d", f.name, f.value, f.low, most)
		}
	}
	if !(c.Dropout >= 0 && c.Dropout < 1) {
		return fmt.Errorf("s2vt: dropout is %v, want at least 0 and less than 1", c.Dropout)
	}
	return nil
}

// Parameters is the number of weights. It is a float, in which no configuration overflows.
func (c Config) Parameters() float64 {
	f, v, e, d, h := float64(c.Features), float64(c.Vocabulary), float64(c.Embedding), float64(c.Words),
		float64(c.Hidden)
	return e*(f+1) + v*d + 4*h*(e+h+1) + 4*h*(h+d+h+1) + v*(h+1)
}
