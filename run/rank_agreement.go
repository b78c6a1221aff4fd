package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nmn/loader/alike"
	"nmn/loader/dataset"
	"nmn/loader/picture"
	"nmn/ranks"
	"nmn/text"
)

// seenBags are the looks of training bags. The sessions of an experiment share them.
type seenBags struct {
	ids   []string
	looks []alike.Look
}

// alike lists groups of training bags that are near-duplicates, none of more than most bags, the same on all ranks.
func (s *Session) alike(ctx context.Context, most int) ([][]int, error) {
	if s.Config.painted() {
		return nil, nil
	}
	set := s.Data.Train
	if !slices.Equal(s.seen.ids, set.IDs) {
		if set.Preview() != nil {
			s.Notify(Message{Topic: "folds", Text: fmt.Sprintf("looks for near-duplicates among %d %s", set.Len(), set.Noun()),
				Detail: true})
		}
		looks, err := s.looks(ctx)
		if errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w: %w", ErrInterrupted, err)
		}
		if err != nil {
			return nil, err
		}
		*s.seen = seenBags{set.IDs, looks}
	}
	groups, split := alike.Groups(s.seen.looks, most)
	if text := alikeText(groups, split, set.Len(), most, set.Noun()); text != "" {
		s.Notify(Message{Topic: "folds", Text: text})
	}
	return groups, nil
}

// alikeText says what is kept together; empty if nothing is.
func alikeText(groups [][]int, split, bags, most int, noun text.Plural) (text string) {
	if len(groups) > 0 {
		text = fmt.Sprintf("%d of %d %s are near-duplicates of others, in groups: %d. Each group stays in one fold",
			len(slices.Concat(groups...)), bags, noun, len(groups))
	}
	if split > 0 {
		if text != "" {
			text += "\n        "
		}
		text += fmt.Sprintf("groups of more than %d %s, too many for one fold: %d. They are split", most, noun, split)
	}
	return text
}

// looks looks at all training bags. Each rank reads its share of them.
func (s *Session) looks(ctx context.Context) ([]alike.Look, error) {
	set, as := s.Data.Train, picture.Picture{MaxPixels: s.Config.Data.MaxPixels, Orientation: s.Config.Data.Orientation}
	rank, size := s.ranks.Rank(), s.ranks.Size()
	own, err := alike.At(ctx, set, rank*set.Len()/size, (rank+1)*set.Len()/size, as)
	all, err := ranks.Every(s.ranks, own, err)
	return slices.Concat(all...), err
}

// painted reports whether pictures are drawn, no two of them alike.
func (c *Config) painted() bool {
	return c.Data.Set == dataset.Scenes || c.Data.Set == dataset.MovingScenes
}
