package text

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// VocabularyOptions say which words of the captions become classes.
type VocabularyOptions struct {
	Size            int      // most words, the most frequent first; 0: all
	MinCount        int      // only words that occur at least so often; below 1 is 1
	Tagger          *Tagger  // gives the parts of speech; nil: every word is Others
	NoFunctionWords bool     // leaves out what isFunctionWord finds
	Exclude         []string // words that never become classes, for example {"a", "the"}
}

// wordCount is what BuildVocabulary keeps of a word.
type wordCount struct {
	count int
	tags  map[string]int // by Penn tag; nil without a tagger
}

// BuildVocabulary takes the most frequent tokens of the captions (COCO: as in Fang et al.; MSR-VTT: the paper's 1,087
// most common words) without punctuation, the most frequent first and ties in alphabetical order. Count is the number
// of occurrences. The part of speech is the group of the tag that the word has most often in these captions; on ties,
// of the first tag in alphabetical order. The result does not depend on the order of the captions.
func BuildVocabulary(captions iter.Seq[string], o VocabularyOptions) (*Vocabulary, error) {
	if o.Size < 0 {
		return nil, fmt.Errorf("vocabulary: size %d, want 0 (all words) or more", o.Size)
	}
	counts := countWords(captions, o.Tagger)
	for _, w := range o.Exclude {
		delete(counts, w)
	}
	words := make([]Word, 0, len(counts))
	for text, c := range counts {
		if c.count >= o.MinCount && !(o.NoFunctionWords && isFunctionWord(text, c.tag())) {
			words = append(words, Word{Text: text, POS: c.group(), Count: c.count})
		}
	}
	if len(words) == 0 {
		return nil, errors.New("vocabulary: the captions hold no word that is frequent enough")
	}
	return MostFrequent(words, o.Size)
}

func countWords(captions iter.Seq[string], tagger *Tagger) map[string]*wordCount {
	counts := map[string]*wordCount{}
	var tokens, tags []string
	for caption := range captions {
		tokens = Tokenizer{}.Append(tokens[:0], caption)
		if tagger != nil {
			tags = tagger.Append(tags[:0], tokens)
		}
		for i, token := range tokens {
			if IsPunctuation(token) {
				continue
			}
			c := counts[token]
			if c == nil {
				c = &wordCount{}
				counts[strings.Clone(token)] = c // a token would keep its whole caption in memory
			}
			c.count++
			if tagger != nil {
				if c.tags == nil {
					c.tags = map[string]int{}
				}
				c.tags[tags[i]]++
			}
		}
	}
	return counts
}

func (c *wordCount) group() POS { return groupOf(c.tag()) }

// tag returns the most frequent tag, empty without a tagger.
func (c *wordCount) tag() string {
	best, most := "", 0
	for tag, n := range c.tags {
		if n > most || n == most && tag < best {
			best, most = tag, n
		}
	}
	return best
}

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

// isFunctionWord reports whether a word, in lower case, belongs to the closed classes of English: determiners,
// prepositions, pronouns, conjunctions and auxiliary verbs. tag is its Penn Treebank tag, empty if unknown.
func isFunctionWord(word, tag string) bool {
	return slices.Contains(functionTags, tag) || slices.Contains(closedClass, word)
}
