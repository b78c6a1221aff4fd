package features

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// addWeights reads the file of weights next to the features: one number for each row, and identifiers if it has any.
func (o *Options) addWeights(ctx context.Context, t *Table) (err error) {
	if o.Weights == "" {
		return nil
	}
	if t.Weights != nil {
		return formatf("features: %q has weights and so has %q: leave out `data.features.weights` or "+
			"`data.features.weight_column`", t.Name, o.Weights)
	}
	own := Options{Features: o.Weights, IDColumn: o.IDColumn, FeatureColumns: []string{"*"}, Unlabelled: true,
		Missing: true, Limit: o.Limit, lenient: true}
	file, err := own.openFeatures(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if width := file.Rows.Width(); width != 1 {
		return formatf("features: %q has %d numbers in each row, want one, the weight", o.Weights, width)
	}
	places, err := t.places(o.Weights, file.Rows.Len(), file.IDs)
	if err != nil {
		return err
	}
	t.Weights = make([]float32, t.Rows.Len())
	for i := range t.Weights {
		at := i
		if places != nil {
			at = places[i]
		}
		err := file.Rows.Read(at, t.Weights[i:i+1])
		if err == nil {
			err = checkWeight(t.Weights[i])
		}
		if err != nil {
			return fmt.Errorf("features: %q, row %d: %w", o.Weights, at+1, err)
		}
	}
	return nil
}

// checkWeight refuses what is no weight of a row.
func checkWeight(w float32) error {
	if !(w >= 0 && w <= math.MaxFloat32) { // NaN too
		return valuef("the weight is %v, want a finite number of at least 0", w)
	}
	return nil
}
