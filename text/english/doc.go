// Package english brings the model of the part-of-speech tagger, which builds vocabularies from captions. A program
// imports it for its effect alone:
//
//	import _ "nmn/text/english"
//
// Other programs do not link the model's 4.5 MB. They read captions if the configuration names a file of words.
package english

import (
	"github.com/jdkato/prose/v2"

	"nmn/text"
)

func init() { text.RegisterModel(prose.Asset) }
