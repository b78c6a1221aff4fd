package train

import (
	"reflect"
	"testing"
)

func TestParseRules_ReadsWhatFormatRulesWrites(t *testing.T) {
	want := []Rule{{"head.*", 2}, {"nmn.bias", .5}}
	rules, err := ParseRules(" head.*=2,, nmn.bias=0.5")
	if err != nil || !reflect.DeepEqual(rules, want) {
		t.Errorf("%v, %v, want %v", rules, err, want)
	}
	if text := FormatRules(want); text != "head.*=2,nmn.bias=0.5" {
		t.Errorf("written as %q", text)
	}
	for _, s := range []string{"head", "head=much"} {
		if _, err := ParseRules(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}
