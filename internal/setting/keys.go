package setting

import "regexp"

// key is what stands for a setting in a message, between backquotes: its key in a configuration file, or for settings
// that are in none a name with that of the package.
var key = regexp.MustCompile("`[a-z0-9_.]+`")

// Rename puts names of the caller in the place of settings. Libraries write a setting that somebody may change as
// its key between backquotes: "leave them out (`data.max_bad_samples`)". A key without a name stays as it is, and so
// does one without backquotes, which is what the message is about: "data.noise is 2, want 0 to 1".
func Rename(message string, names map[string]string) string {
	return key.ReplaceAllStringFunc(message, func(quoted string) string {
		if name, ok := names[quoted[1:len(quoted)-1]]; ok {
			return name
		}
		return quoted
	})
}
