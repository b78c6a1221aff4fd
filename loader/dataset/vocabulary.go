package dataset

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"

	"nmn/loader/annotation"
	"nmn/text"
)

// MaxClasses bounds the memory of labels and of the last layer: a vocabulary beyond it is a mistake.
const MaxClasses = 100_000

// VocabularyConfig selects the classes of captions and of labels by name.
type VocabularyConfig struct {
	CaptionsPerSample int    `yaml:"captions_per_sample" of:"captions msrvtt features manifest" help:"use this many <captions> of each picture, the lowest annotation ids first" range:"[1,]"`
	Vocabulary        string `yaml:"vocabulary" of:"features captions msrvtt clips manifest" help:"read the vocabulary from this <file>; empty builds one (word, part of speech, count)"`
	VocabularySize    int    `yaml:"vocabulary_size" help:"build the vocabulary from this many of the most frequent <words>" range:"[1,]"`
	MinCount          int    `yaml:"min_count" help:"leave words with fewer <occurrences> than this out of a built vocabulary" range:"[0,]"`
	KeepFunctionWords bool   `yaml:"keep_function_words" of:"captions msrvtt" help:"keep words such as a, on and of in a built vocabulary"`

	// VocabularyOfModel is set if Vocabulary comes from a model, and was not chosen by the user.
	VocabularyOfModel bool `yaml:"-"`
}

// knownWords reads the vocabulary of the configuration; nil if it names none.
func knownWords(c *Config) (*text.Vocabulary, error) {
	if c.Vocabulary == "" {
		return nil, nil
	}
	v, err := text.ReadVocabulary(c.Vocabulary)
	if err == nil && v.Len() > MaxClasses {
		return nil, fmt.Errorf("vocabulary %s: %d words, at most %d can be classes: keep the most frequent", c.Vocabulary,
			v.Len(), MaxClasses)
	}
	return v, err
}

// openVocabulary reads the vocabulary of the configuration, or builds one from captions.
func openVocabulary(c *Config, captions iter.Seq[string]) (*text.Vocabulary, error) {
	if v, err := knownWords(c); v != nil || err != nil {
		return v, err
	}
	return taggedVocabulary(text.VocabularyOptions{Size: min(c.VocabularySize, MaxClasses), MinCount: c.MinCount,
		NoFunctionWords: !c.KeepFunctionWords}, captions)
}

// MSRVTTWords is the number of classes that the paper takes from MSR-VTT.
const MSRVTTWords = 1087

// sharedTagger is decoded once: a process that reads several files of captions would spend most of its time on that.
var sharedTagger = sync.OnceValues(text.NewTagger)

// taggedVocabulary builds a vocabulary with parts of speech.
func taggedVocabulary(o text.VocabularyOptions, captions iter.Seq[string]) (*text.Vocabulary, error) {
	tagger, err := sharedTagger()
	if err != nil {
		return nil, err
	}
	o.Tagger = tagger
	return text.BuildVocabulary(captions, o)
}

func logCaptions(log *slog.Logger, captions *annotation.Bags) {
	kind := "pictures"
	if captions.Form == annotation.FormMSRVTT {
		kind = "clips"
	}
	if captions.Warnings != "" {
		log.Warn("captions", "file", captions.Name, "warnings", captions.Warnings)
	}
	log.Info("captions read", "file", captions.Name, kind, len(captions.IDs))
}

// CaptionWords selects which words of caption files become a vocabulary.
type CaptionWords struct {
	text.VocabularyOptions
	// CaptionsPerSample of each picture or clip count, the first by their id; 0 for all.
	CaptionsPerSample int
	Split             string // MSR-VTT: the split whose captions count
	// PaperSize takes as many words of MSR-VTT as the paper has, PaperCaptions as many captions of a clip.
	PaperSize, PaperCaptions bool
}

// VocabularyOf builds the vocabulary of files of captions in any format.
func VocabularyOf(ctx context.Context, log *slog.Logger, files []string, o CaptionWords) (*text.Vocabulary, error) {
	var all []iter.Seq[string]
	for _, file := range files {
		captions, err := annotation.ReadBags(ctx, file)
		if err != nil {
			return nil, err
		}
		logCaptions(log, captions)
		perBag := o.CaptionsPerSample
		if captions.Form == annotation.FormMSRVTT {
			captions = captions.Split(o.Split)
			if o.PaperSize {
				o.Size = MSRVTTWords
			}
			if o.PaperCaptions {
				perBag = annotation.MSRVTTCaptions
			}
		}
		all = append(all, captions.Texts(perBag))
	}
	return taggedVocabulary(o.VocabularyOptions, func(yield func(string) bool) {
		for _, captions := range all {
			for caption := range captions {
				if !yield(caption) {
					return
				}
			}
		}
	})
}
