package main

import (
	"fmt"
	"slices"
	"strings"

	"nmn/run"
)

// assignments are settings by their keys: --set data.noise=0.2. Of two of the same key the later one counts.
type assignments []*run.Setting

func (a *assignments) Set(text string) error {
	key, value, found := strings.Cut(text, "=")
	if !found || key == "" {
		return fmt.Errorf("want a key and a value, such as data.noise=0.2")
	}
	if key == "preset" || key == "size" || key == "build" {
		return fmt.Errorf("%s is no setting of its own; what to start from is named by --preset and --size", key)
	}
	one, err := run.NewSetting(key, value)
	if err != nil {
		return err
	}
	*a = append(slices.DeleteFunc(*a, func(s *run.Setting) bool { return s.Key == key }), one)
	return nil
}

func (a *assignments) String() string { return "" }

func (a *assignments) Type() string { return "setting" }

// apply lays the settings over a configuration, in their order.
func (a assignments) apply(c *run.Config) error {
	for _, one := range a {
		if err := one.Apply(c); err != nil {
			return err
		}
	}
	return nil
}
