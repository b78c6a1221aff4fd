package ranks

import (
	"encoding/json"
	"errors"

	"nmn/group"
	"nmn/internal/setting"
)

// toldError is an error that all ranks have been told of.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }

// Told reports whether all ranks know of an error, because they have agreed on it. A rank that ends with another error
// must abort the group, for the others may wait for it.
func Told(err error) bool {
	var told toldError
	return errors.As(err, &told)
}

// First gives every rank what rank 0 has in v, a pointer, which travels as JSON. What is wrong on one rank is an error on
// all.
func First(g group.Group, v any) error {
	if g.Size() == 1 {
		return nil
	}
	var own []byte
	var err error
	if g.Rank() == 0 {
		own, err = json.Marshal(v)
	}
	if err := Agree(g, err); err != nil {
		return err
	}
	all, err := g.Gather(own)
	if err == nil && g.Rank() > 0 {
		err = json.Unmarshal(all[0], v)
	}
	return err
}

// Agree is group.Agree for errors with which a command ends: where the error of a rank is a *setting.Error, those of the
// others wrap one too, so that all ranks end with the same exit code.
func Agree(g group.Group, err error) error {
	if g.Size() == 1 {
		return err
	}
	agreed := group.Agree(g, err)
	if agreed == nil {
		return nil
	}
	kind := []byte{0}
	var mistake *setting.Error
	if errors.As(err, &mistake) {
		kind[0] = 1
	}
	kinds, gathering := g.Gather(kind)
	if gathering != nil { // the group has ended
		return agreed
	}
	var lost *group.LostError
	if err == nil && errors.As(agreed, &lost) && len(kinds[lost.Rank]) == 1 && kinds[lost.Rank][0] == 1 {
		agreed = &setting.Error{Err: agreed}
	}
	return toldError{agreed}
}
