package durable

import (
	"errors"
	"slices"
	"syscall"
)

// Full reports whether an error of writing says that there is no room: what failed may succeed once there is.
func Full(err error) bool {
	var code syscall.Errno
	return errors.As(err, &code) && slices.Contains(full, code)
}
