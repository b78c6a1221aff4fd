package setting

// Values returns the single settings of a configuration, a struct with YAML tags or a pointer to one: the
// value of each by its key, such as data.noise. It leaves out sections and fields without a place in a file.
func Values(config any) map[string]any {
	values := map[string]any{}
	for _, d := range Describe(config) {
		values[d.Key] = d.Value
	}
	return values
}
