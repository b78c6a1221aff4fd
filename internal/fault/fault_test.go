package fault

import (
	"errors"
	"io"
	"testing"
)

func TestNewf_IsOfItsKindAndHasItsOwnText(t *testing.T) {
	kind := errors.New("a kind")
	err := Newf(kind, "row %d: %w", 3, io.ErrUnexpectedEOF)
	if !errors.Is(err, kind) || !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "row 3: unexpected EOF" {
		t.Errorf("error %v", err)
	}
}
