package setting

import "testing"

func TestRename_PutsNamesForWholeKeys(t *testing.T) {
	names := map[string]string{"data.noise": "--noise", "data.noise_file": "--noise-file", "arm": "--arm"}
	for message, want := range map[string]string{
		"data.noise is 2: leave out `data.noise`":     "data.noise is 2: leave out --noise",
		"give `arm` star, or `data.noise_file` FILE":  "give --arm star, or --noise-file FILE",
		"`data.noises` and `data` and `my data.noise": "`data.noises` and `data` and `my data.noise",
		"": "",
	} {
		if got := Rename(message, names); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}
