package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nmn/loader"
	"nmn/loader/alike"
	"nmn/loader/picture"
	"nmn/ranks"
	"nmn/text"
)

// lookAlikes finds training bags that are near-duplicates. The sessions of an experiment share it: bags are looked at
// once.
type lookAlikes struct {
	ids   []string // of the bags
	looks []alike.Look
}

// groups lists groups of bags of a set that are near-duplicates, none of more than most bags, the same on all ranks.
// Each rank reads its share of them. notify receives what is kept together.
func (l *lookAlikes) groups(ctx context.Context, set *loader.Set, as picture.Picture, g ranks.Group, most int,
	notify func(Message)) ([][]int, error) {
	if !slices.Equal(l.ids, set.IDs) {
		if set.Preview() != nil {
			notify(Message{Topic: "folds", Text: fmt.Sprintf("looks for near-duplicates among %d %s", set.Len(), set.Noun()),
				Detail: true})
		}
		rank, size := g.Rank(), g.Size()
		own, err := alike.At(ctx, set, rank*set.Len()/size, (rank+1)*set.Len()/size, as)
		all, err := ranks.Every(g, own, err)
		if errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w: %w", ErrInterrupted, err)
		}
		if err != nil {
			return nil, err
		}
		l.ids, l.looks = set.IDs, slices.Concat(all...)
	}
	groups, split := alike.Groups(l.looks, most)
	if text := alikeText(groups, split, set.Len(), most, set.Noun()); text != "" {
		notify(Message{Topic: "folds", Text: text})
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
