package dataset

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"

	"nmn/internal/setting"
	"nmn/loader/annotation"
	"nmn/text"
)

// MaxClasses bounds the memory of labels and of the last layer: a vocabulary beyond it is a mistake.
const MaxClasses = 100_000

func openVocabulary(c *Config, captions iter.Seq[string]) (*text.Vocabulary, error) {
	v, err := readOrBuildVocabulary(c, captions)
	if err == nil && v.Len() > MaxClasses {
		return nil, tooManyClasses(c, v)
	}
	return v, err
}

func tooManyClasses(c *Config, v *text.Vocabulary) error {
	return fmt.Errorf("vocabulary %s: %d words, at most %d can be classes: keep the most frequent", c.Vocabulary,
		v.Len(), MaxClasses)
}

func readOrBuildVocabulary(c *Config, captions iter.Seq[string]) (*text.Vocabulary, error) {
	if c.Vocabulary != "" {
		return text.ReadVocabulary(c.Vocabulary)
	}
	return taggedVocabulary(text.VocabularyOptions{Size: c.VocabularySize, MinCount: c.MinCount,
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

// readCaptions reads captions of pictures.
func readCaptions(ctx context.Context, log *slog.Logger, file string) (*annotation.Bags, error) {
	captions, err := annotation.ReadBags(ctx, file)
	if err != nil {
		return nil, err
	}
	logCaptions(log, captions)
	if captions.Form == annotation.FormMSRVTT {
		return nil, setting.Errorf("data.captions", "%s: annotations of MSR-VTT, whose bags are clips: name them with "+
			"`data.msrvtt` and the frames with `data.frames_dir`", file)
	}
	return captions, nil
}

// logCaptions logs the content of a file of captions.
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
