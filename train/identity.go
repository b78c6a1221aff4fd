package train

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"nmn/loader"
	"nmn/text"
)

// identity holds what must agree for a checkpoint to be resumed.
type identity struct {
	words []ClassWord
	data  DataID
}

func identify(o Options) (identity, error) {
	print, err := fingerprint(o.Data, &o.Loader)
	return identity{words: classWords(o.Data.Vocabulary), data: DataID{Name: o.Data.Name, Bags: o.Data.Len(),
		Fingerprint: print}}, err
}

func classWords(v *text.Vocabulary) []ClassWord {
	words := make([]ClassWord, v.Len())
	for i := range words {
		words[i].Text = v.Word(i).Text
		if pos := v.Word(i).POS; pos != text.Others {
			words[i].POS = pos.String()
		}
	}
	return words
}

// fingerprint is a SHA-256 over the census of a set, which covers identifiers, words and observed labels, and
// over soft targets or evidence, if any.
func fingerprint(set *loader.Set, l *loader.Config) (string, error) {
	census, err := set.Census(context.Background())
	if err != nil {
		return "", fmt.Errorf("training: %w", err)
	}
	h := sha256.New()
	h.Write(census.Digest[:])
	if l.Targets != nil {
		_ = binary.Write(h, binary.LittleEndian, l.Targets.Float32s()) // a hash cannot fail
	}
	if l.Evidence != nil {
		_, _ = h.Write([]byte("evidence")) // equal numbers are no targets
		_ = binary.Write(h, binary.LittleEndian, l.Evidence.Float32s())
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sameWords names the first class that differs.
func (c *Checkpoint) sameWords(v *text.Vocabulary) error {
	if v.Len() != len(c.Words) {
		return fmt.Errorf("it has %d classes, the data %d: %w", len(c.Words), v.Len(), ErrOtherModel)
	}
	for i, w := range c.Words {
		if here := v.Word(i).Text; here != w.Text {
			return fmt.Errorf("class %d is %q in it and %q in the data: %w", i+1, w.Text, here, ErrOtherModel)
		}
	}
	return nil
}

// sameWords names the first class in which two sets differ.
func sameWords(a, b *text.Vocabulary) error {
	for i := range a.Len() {
		if x, y := a.Word(i).Text, b.Word(i).Text; x != y {
			return fmt.Errorf("training: class %d is %q in the training set and %q in the validation set", i+1, x, y)
		}
	}
	return nil
}

// free are the settings that may change when a run is resumed, because they do not change the result of a
// step.
var free = []string{"stage1_epochs", "stage2_epochs", "max_steps", "log_steps", "evaluate_epochs", "evaluate_steps",
	"checkpoint_epochs", "checkpoint_steps", "keep_best"}

// sameRun returns nil if a stage can continue from a checkpoint, else an error that names the first
// difference.
func (c *Checkpoint) sameRun(o Options, here identity) error {
	if err := c.sameWords(o.Data.Vocabulary); err != nil {
		return err
	}
	if err := SameModel(c.Model, o.Net.Config()); err != nil {
		return err
	}
	switch {
	case c.Stage != o.Stage:
		return fmt.Errorf("it belongs to stage %d, this is stage %d: %w", c.Stage, o.Stage, ErrOtherRun)
	case c.Data.Bags != here.data.Bags:
		return fmt.Errorf("it was trained on %d samples (%q), these are %d (%q): %w",
			c.Data.Bags, c.Data.Name, here.data.Bags, here.data.Name, ErrOtherRun)
	case c.Data.Fingerprint != here.data.Fingerprint:
		return fmt.Errorf(
			"it was trained on %q with other identifiers or labels than %q (fingerprints %.12s and %.12s): %w",
			c.Data.Name, here.data.Name, c.Data.Fingerprint, here.data.Fingerprint, ErrOtherRun)
	case c.Start != "" && o.Start != "" && c.Start != o.Start:
		return fmt.Errorf("it began from another stage 1, or from other folds and rates, than there are now (SHA-256 %.12s "+
			"and %.12s): %w", c.Start,
			o.Start, ErrOtherRun)
	case c.Config.Seed != o.Config.Seed:
		return fmt.Errorf("its seed is %d, this one %d: %w", c.Config.Seed, o.Config.Seed, ErrOtherRun)
	}
	allowed := free
	// With a cosine schedule the rate depends on the length of the stage, and with patience a stage may have
	// ended before its limit: the limits must then be equal too.
	if o.Config.Schedule == Cosine || o.Config.Patience > 0 {
		allowed = free[3:]
	}
	return SameSettings(c.Config, o.Config, allowed...)
}

// SameModel returns nil if the nets have equal configurations. Otherwise it returns an error that names the
// first difference and wraps ErrOtherModel.
func SameModel(there, here any) error {
	if field, there, here := firstDifference(there, here); field != "" {
		return fmt.Errorf("its model has %s = %s, this one %s: %w", field, there, here, ErrOtherModel)
	}
	return nil
}

// SameSettings is SameModel for the settings of training, without the free ones, which may change. The error
// wraps ErrOtherRun.
func SameSettings(there, here any, free ...string) error {
	if field, there, here := firstDifference(there, here, free...); field != "" {
		return fmt.Errorf("its setting %s is %s, this one %s: %w", field, there, here, ErrOtherRun)
	}
	return nil
}

// firstDifference compares two values of one type by their JSON, field by field in alphabetic order. An empty
// field means that they are equal, apart from the fields to skip. An empty list equals an absent one.
func firstDifference(a, b any, skip ...string) (field, there, here string) {
	x, y := fields(a), fields(b)
	all := maps.Clone(x) // JSON leaves out empty fields: take the names of both
	maps.Copy(all, y)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(skip, name) && !reflect.DeepEqual(x[name], y[name]) && !(empty(x[name]) && empty(y[name])) {
			return name, jsonText(x[name]), jsonText(y[name])
		}
	}
	return "", "", ""
}

func empty(v any) bool {
	list, ok := v.([]any)
	return v == nil || ok && len(list) == 0
}

// fields returns the fields of a struct as JSON values. A configuration always marshals.
func fields(v any) map[string]any {
	var m map[string]any
	if encoded, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(encoded, &m) // it was just encoded
	}
	return m
}

func jsonText(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(encoded)
}
