package loader

import (
	"context"
	"fmt"

	"nmn/text"
)

// clipRows reads the rows of clips by their place in the index.
type clipRows struct {
	clips      *Clips
	labels     *ClipLabels
	vocabulary *text.Vocabulary
}

func (r clipRows) Len() int { return r.clips.Len() }

func (r clipRows) KnowsTruth() bool { return r.labels.form.Truth }

func (r clipRows) Read(ctx context.Context, bag int, row *Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	record, err := r.clips.record(bag)
	if err != nil {
		return err
	}
	return r.labels.read(bag, record.Clip, r.vocabulary, row)
}

// StreamClips returns the set of all clips of a folder, with the labels of a file, in memory that does not
// grow with their number. The ID of a bag is the name of its clip. Hold returns the same set with its labels
// in memory, for uses that need all labels at once: folds, audits, splits by identifier, scores of all bags.
func StreamClips(name string, clips *Clips, labels *ClipLabels, vocabulary *text.Vocabulary) (*Set, error) {
	if vocabulary == nil || vocabulary.Len() == 0 {
		return nil, fmt.Errorf("%s: labels need a vocabulary of at least one word", name)
	}
	if clips.Len() != labels.Len() {
		return nil, Unusable(fmt.Errorf("%s: the labels %q have %d clips, but there are frames of %d: both must have the "+
			"same clips in one order",
			name, labels.lines.name(), labels.Len(), clips.Len()))
	}
	rows := clipRows{clips, labels, vocabulary}
	return &Set{Name: name, Vocabulary: vocabulary, CaptionsPerSample: labels.form.CaptionsPerSample, Rows: rows,
		ByBlocks: true,
		survey:   &survey{}, Source: &ClipSource{clips, clips.record}}, nil
}
