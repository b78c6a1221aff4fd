package setting

// Values are the single settings of a configuration, a struct with the tags of YAML or a pointer to one: what each
// is set to, by its key, such as data.noise. Sections are not among them, and neither is what no file holds.
func Values(config any) map[string]any {
	values := map[string]any{}
	for _, d := range Describe(config) {
		values[d.Key] = d.Value
	}
	return values
}
