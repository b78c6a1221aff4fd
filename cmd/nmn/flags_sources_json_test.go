package main

import (
	"encoding/json"
	"testing"
)

// The settings as JSON are those that hold, with the kinds that they have.
func TestTrain_PrintsSettingsAsJSON(t *testing.T) {
	var settings map[string]any
	out := must(t, "config", "--arm", "baseline", "--augment", "strong", "--set", "train.seed=3", "--json")
	check(t, json.Unmarshal([]byte(out), &settings))
	for key, want := range map[string]any{"arm": "baseline", "train.seed": 3., "data.features.standardise": true} {
		if settings[key] != want {
			t.Errorf("%s is %v, want %v", key, settings[key], want)
		}
	}
	if _, isList := settings["data.features.label_columns"].([]any); !isList {
		t.Errorf("an empty list is %v", settings["data.features.label_columns"])
	}
	if _, has := settings["build"]; has {
		t.Error("what built the program is among the settings")
	}
}
