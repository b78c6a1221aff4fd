package text

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

func TestJoinAlike_ChoosesWordsThenTheMostFrequent(t *testing.T) {
	names, rows := strings.Split("Dog|cat|dog|ice-cream|DOG|Ice Cream", "|"), []int{1, 2, 3, 1, 3, 1}
	for words, want := range map[string]string{
		"":              "[dog cat dog ice-cream dog ice-cream]",
		"DOG|Ice cream": "[DOG cat DOG Ice cream DOG Ice cream]",
		"DOG|dog":       "[DOG cat dog ice-cream DOG ice-cream]",
	} {
		if got := fmt.Sprint(JoinAlike(names, rows, strings.Split(words, "|"))); got != want {
			t.Errorf("words %q: %s, want %s", words, got, want)
		}
	}
}
