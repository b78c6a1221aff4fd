package loader

import (
	"fmt"
	"strings"
	"testing"
)

func TestAlikeNames_DifferInSpellingAlone(t *testing.T) {
	for names, want := range map[string]string{
		"Dog|cat|dog|DOG":                      "[[Dog dog DOG]]",
		"traffic light|Traffic_Light|a-b|a  b": "[[traffic light Traffic_Light] [a-b a  b]]",
		"cat|cat |cats|ca t":                   "[[cat cat ]]",
		"-1|1|0|01|T1|T-1|-":                   "[]",
		"":                                     "[]",
	} {
		if got := fmt.Sprint(AlikeNames(strings.Split(names, "|"))); got != want {
			t.Errorf("%q: %s, want %s", names, got, want)
		}
	}
}
