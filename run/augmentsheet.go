package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"nmn/internal/rng"
	"nmn/internal/setting"
	"nmn/loader"
	"nmn/loader/augment"
	"nmn/recipe"
	"nmn/report"
)

// What the sheet of augmentations shows.
const (
	sheetBags    = 8
	sheetEpochs  = 5
	sheetLabels  = 10
	sheetQuality = 92 // of its JPEG files
)

// AugmentationSheet shows some bags of the training set, drawn by the seed of the data, as they are and as the first
// epochs of stage 1 show them.
func AugmentationSheet(ctx context.Context, c *Config, log *slog.Logger) (sheet *report.Sheet, err error) {
	if c.Train.Augmentations() == "" {
		return nil, setting.Errorf("train.augment", "nothing is augmented: give `train.augment`, or one of the settings "+
			"next to it, such as `train.augment.random_crop.area`")
	}
	config := *c
	data, err := config.openLeniently(ctx, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, data.Close()) }()
	set := data.Train
	if set.Vectors != nil {
		return nil, setting.Errorf("train.augment", "features cannot be shown: a sheet of augmentations shows pictures")
	}
	reading := config.Train.Reading(config.Loader(), config.Net.Model(set.Vocabulary.Len(), 0, ""), 1)
	reading.MaxBadSamples = set.Len()
	plain := reading
	plain.Augment, plain.Flip = augment.Config{}, false
	sheet = &report.Sheet{Name: set.Name, Applied: config.Train.Augmentations(), Notes: config.sheetNotes(),
		Columns: []string{"as it is"}}
	for epoch := range sheetEpochs {
		sheet.Columns = append(sheet.Columns, fmt.Sprintf("epoch %d", epoch+1))
	}
	bags := make([]int, set.Len())
	for i := range bags {
		bags[i] = i
	}
	stream := rng.New(rng.Derive(config.Data.Seed, "run/augmentsheet"))
	stream.Shuffle(bags)
	bags = bags[:min(sheetBags, len(bags))]
	slices.Sort(bags)
	return sheet, config.fillSheet(ctx, sheet, set, bags, plain, reading)
}

// sheetNotes say what the sheet does not show.
func (c *Config) sheetNotes() []string {
	notes := []string{"Each picture is what the network sees of it in that epoch of stage 1; all frames of a clip are " +
		"changed alike, and the middle one is shown. Validation, test and prediction see pictures as they are."}
	if c.Settings().Estimates() && c.NoiseRates == recipe.Online {
		notes = append(notes, "The noise rates come from scores of the first epoch: a run begins with the second what "+
			"is shown here from the first on, but for mirrored pictures.")
	}
	return notes
}

// fillSheet adds the rows of bags to a sheet.
func (c *Config) fillSheet(ctx context.Context, sheet *report.Sheet, set *loader.Set, bags []int,
	plain, changed loader.Config) error {
	var previews [2]*loader.Previewer
	for i, config := range []loader.Config{plain, changed} {
		l, err := loader.New(set, config)
		if err != nil {
			return err
		}
		if previews[i], err = l.Previews(ctx); err != nil {
			return err
		}
		defer previews[i].Close()
	}
	for _, bag := range bags {
		row := report.SheetRow{ID: bagName(ctx, set, bag)}
		for column := range sheet.Columns {
			p := previews[min(column, 1)]
			cell, err := sheetCell(p, set, max(column, 1), bag)
			if err != nil {
				return err
			}
			row.Cells = append(row.Cells, cell)
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	return ctx.Err()
}

// bagName is the identifier of a bag, in memory or not.
func bagName(ctx context.Context, set *loader.Set, bag int) string {
	if set.Rows == nil {
		return set.IDs[bag]
	}
	var row loader.Row
	if err := set.Rows.Read(ctx, bag, &row); err != nil {
		return fmt.Sprintf("sample %d", bag)
	}
	return row.ID
}

// sheetCell is a bag in an epoch. Of a picture that cannot be used it says why.
func sheetCell(p *loader.Previewer, set *loader.Set, epoch, bag int) (cell report.SheetCell, err error) {
	preview, err := p.Bag(epoch, bag)
	switch {
	case errors.Is(err, loader.ErrCorrupt):
		return report.SheetCell{Lines: []string{err.Error()}}, nil
	case err != nil:
		return cell, err
	}
	cell.Lines = preview.Applied
	if cell.JPEG, err = preview.Picture.EncodeJPEG(sheetQuality); err != nil {
		return cell, err
	}
	var classes []int
	for k, v := range preview.Labels {
		if v > 0 {
			classes = append(classes, k)
		}
	}
	slices.SortStableFunc(classes, func(a, b int) int { return cmp.Compare(preview.Labels[b], preview.Labels[a]) })
	cell.Further = max(0, len(classes)-sheetLabels)
	for _, k := range classes[:len(classes)-cell.Further] {
		label := report.SheetLabel{Word: set.Vocabulary.Word(k).Text}
		if v := preview.Labels[k]; v < 1 {
			label.Share = fmt.Sprintf("%.0f %%", 100*v)
		}
		cell.Labels = append(cell.Labels, label)
	}
	return cell, nil
}
