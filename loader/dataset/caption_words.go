package dataset

import (
	"context"
	"iter"
	"log/slog"

	"nmn/loader/annotation"
	"nmn/text"
)

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
		all = append(all, o.texts(captions))
		if captions.Form == annotation.FormMSRVTT && o.PaperSize {
			o.Size = MSRVTTWords
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
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

// texts are the captions that count.
func (o *CaptionWords) texts(captions *annotation.Bags) iter.Seq[string] {
	perBag := o.CaptionsPerSample
	if captions.Form == annotation.FormMSRVTT {
		captions = captions.Split(o.Split)
		if o.PaperCaptions {
			perBag = annotation.MSRVTTCaptions
		}
	}
	return captions.Texts(perBag)
}
