// Package english contains the model of the part-of-speech tagger, which builds vocabularies from captions. A
// program imports it only for its effect:
//
//	import _ "nmn/text/english"
//
// Programs without this import do not link the model's 4.5 MB. They can read captions only if the
// configuration names a file of words.
package english

import (
	"github.com/jdkato/prose/v2"

	"nmn/text"
)

func init() { text.RegisterModel(prose.Asset) }
