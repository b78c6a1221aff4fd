// Package fault makes errors of a kind that do not repeat the text of the kind, because their own says more.
package fault

import "fmt"

// Newf makes an error of a kind, by errors.Is, with a format as in fmt.Errorf.
func Newf(kind error, format string, args ...any) error { return As(kind, fmt.Errorf(format, args...)) }

// As returns err as an error that is also of a kind. Its text stays the same.
func As(kind, err error) error { return fault{kind, err} }

type fault struct{ kind, err error }

func (f fault) Error() string   { return f.err.Error() }
func (f fault) Unwrap() []error { return []error{f.kind, f.err} }
