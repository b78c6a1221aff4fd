package setting

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestErrorf_NamesTheSettingAndKeepsTheCause(t *testing.T) {
	err := fmt.Errorf("run: %w", Errorf("data.noise_file", "no rates in %q: %w", "q.csv", fs.ErrNotExist))
	var mistake *Error
	if !errors.As(err, &mistake) || mistake.Key != "data.noise_file" || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error %#v", err)
	}
	if got, want := err.Error(), `run: no rates in "q.csv": file does not exist`; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestAlternatives_ReadsAsAList(t *testing.T) {
	type arm string
	for want, all := range map[string][]arm{
		"baseline": {"baseline"}, "baseline or plain": {"baseline", "plain"},
		"baseline, plain or noisy": {"baseline", "plain", "noisy"},
	} {
		if got := Alternatives(all); got != want {
			t.Errorf("%q become %q, want %q", all, got, want)
		}
	}
}
