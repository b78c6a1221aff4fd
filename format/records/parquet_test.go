package records

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A program that has not imported the library gets an error that names the package.
func TestParquet_WithoutItsLibrary(t *testing.T) {
	defer Register(library)
	Register(Library{})
	_, reading := Open(strings.NewReader("PAR1"), 4)
	writing := Parquet(io.Discard, func(func(int, error) bool) {})
	for _, err := range []error{reading, writing} {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "format/parquet") {
			t.Error(err)
		}
	}
}
