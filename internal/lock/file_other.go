//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package lock

import "os"

// File locks nothing here: there is no lock that ends with its process.
func File(*os.File) error { return ErrUnsupported }

// removable is set if the name of a file can be removed while the file is open.
const removable = true
