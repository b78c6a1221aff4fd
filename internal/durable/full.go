package durable

import (
	"errors"
	"slices"
	"syscall"
)

// Full reports whether a write failed because there is no room. It may succeed once there is.
func Full(err error) bool {
	var code syscall.Errno
	return errors.As(err, &code) && slices.Contains(full, code)
}
