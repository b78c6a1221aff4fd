// Package setting describes the settings of a configuration, checks them, and names them in errors.
//
// The fields of a configuration declare the settings. Libraries name a setting by its key in a configuration file, such
// as data.noise; a program that takes settings from elsewhere, such as a command line, puts its own names in their
// place.
package setting

import "fmt"

// Error is a setting that is out of range, or does not go with others or with the data: a mistake of the caller, not
// a failure.
type Error struct {
	// Key is that of the setting, such as data.noise; of a section, such as net, or empty, where no single
	// setting is at fault.
	Key string
	// Reason says what is wrong and what to do.
	Reason error
}

// Errorf makes an *Error; the format is that of fmt.Errorf.
func Errorf(key, format string, args ...any) error {
	return &Error{key, fmt.Errorf(format, args...)}
}

// Error is the text of the cause, which names the setting itself.
func (e *Error) Error() string { return e.Reason.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Reason }
