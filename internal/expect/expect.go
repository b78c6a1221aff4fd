// Package expect has what the tests of all packages share: an error ends a test, or is the one that was wanted.
package expect

import (
	"errors"
	"strings"
	"testing"
)

// OK ends the test at an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value returns the result of a call, whose error ends the test: expect.Value(f())(t).
func Value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// ErrorOf returns the error of a call that has a result too.
func ErrorOf[T any](_ T, err error) error { return err }

// Refusal wants an error that has a text and wraps others.
func Refusal(t testing.TB, err error, says string, others ...error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want one that has %q", err, says)
	}
	for _, other := range others {
		if !errors.Is(err, other) {
			t.Errorf("error %v, want %v", err, other)
		}
	}
}
