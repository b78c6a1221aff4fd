// Package setting describes the settings of a configuration, checks them, and names them in errors.
//
// The fields of a configuration declare the settings. Libraries name a setting by its key in a configuration
// file, such as data.noise. A program with other sources of settings, such as a command line, replaces the
// keys by its own names.
package setting

import "fmt"

// Error is a setting that is out of range, or does not fit other settings or the data: a mistake of the
// caller, not a failure.
type Error struct {
	// Key is the setting's key, such as data.noise. It is a section's key, such as net, or empty, if no
	// single setting is at fault.
	Key string
	// Reason describes the mistake and the cure.
	Reason error
}

// Errorf makes an *Error with a format as in fmt.Errorf.
func Errorf(key, format string, args ...any) error {
	return &Error{key, fmt.Errorf(format, args...)}
}

// Error is the text of the cause, which names the setting itself.
func (e *Error) Error() string { return e.Reason.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Reason }
