package text

import (
	"slices"
	"strings"
)

// functionTags are the Penn Treebank tags of words that connect other words and name nothing visible:
// determiners, prepositions, pronouns, conjunctions, modal verbs, particles, "to" and "there".
var functionTags = []string{"CC", "DT", "EX", "IN", "MD", "PDT", "POS", "PRP", "PRP$", "RP", "TO", "WDT", "WP", "WP$",
	"WRB"}

// closedClass holds function words whose tag depends on the sentence: the words after an auxiliary verb may
// be missing, and captions without verbs mislead a tagger.
var closedClass = strings.Fields(`
	a an the this that these those some any each every all both either neither no another such
	about above across after against along among around as at before behind below beneath beside besides between beyond
	by down during except for from in inside into near next of off on onto out outside over past per since through
	throughout till to toward towards under underneath until up upon via with within without
	i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself yourself
	himself herself itself ourselves themselves who whom whose which what where when why how someone something anyone
	anything everyone everything
	and or but nor so yet if while because although though unless whether than then
	am is are was were be been being have has had having do does did doing can could may might must shall should will
	would ca wo 's 're 've 'll 'd 'm n't not there here`)

// isFunctionWord reports whether a word, in lower case, belongs to the closed classes of English:
// determiners, prepositions, pronouns, conjunctions and auxiliary verbs. tag is its Penn Treebank tag, empty
// if unknown.
func isFunctionWord(word, tag string) bool {
	return slices.Contains(functionTags, tag) || slices.Contains(closedClass, word)
}
