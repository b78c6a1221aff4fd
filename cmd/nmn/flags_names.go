package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/internal/setting"
	"nmn/internal/visible"
	"nmn/run"
)

// quotedKey matches a setting, or an option of a command, in the message of a package: leave them out
// (`data.max_bad_samples`).
var quotedKey = regexp.MustCompile("`[a-z0-9_.]+`")

// quotedSetting matches a setting with a value between parentheses: say that a cell is one (`data.label_form` single).
var quotedSetting = regexp.MustCompile("\\(`([a-z0-9_.]+)` ([^ ()]+)\\)")

// records are the keys of a configuration that nmn writes and that cannot be set: the program and its choices.
var records = []string{"build", "chosen"}

// settingKeys are the keys of the settings of a run.
var settingKeys = sync.OnceValue(func() map[string]bool {
	keys := map[string]bool{}
	for _, d := range setting.Describe(&run.Config{}) {
		if slices.Contains(records, d.Key) {
			continue
		}
		keys[d.Key] = true
		for section := d.Key; strings.Contains(section, "."); {
			section = section[:strings.LastIndexByte(section, '.')]
			keys[section] = true
		}
	}
	return keys
})

// flagOf returns what the user types for a key: the flag of a setting, or its key for --set. Any other name is
// an option of a command; its flag is the last part of the name.
func flagOf(key string) string {
	if flag := flagOfSetting(key); flag != "" {
		return flag
	}
	if settingKeys()[key] || !strings.ContainsAny(key, "._") && key != "restart" {
		return key
	}
	return "--" + strings.ReplaceAll(key[strings.LastIndexByte(key, '.')+1:], "_", "-")
}

// flagOfSetting returns the flag of a setting of a run, or an empty string.
func flagOfSetting(key string) string {
	for flag, keys := range flagKeys {
		if slices.Contains(keys, key) {
			return "--" + flag
		}
	}
	return ""
}

// withFlags replaces the settings in the message of a package by their flags.
func withFlags(message string) string {
	message = quotedSetting.ReplaceAllStringFunc(message, func(quoted string) string {
		part := quotedSetting.FindStringSubmatch(quoted)
		if key := part[1]; settingKeys()[key] && flagOfSetting(key) == "" {
			return "(--set " + key + "=" + part[2] + ")"
		}
		return quoted
	})
	return quotedKey.ReplaceAllStringFunc(message, func(quoted string) string { return flagOf(strings.Trim(quoted, "`")) })
}

// attributesWithFlags is withFlags for attributes of logs.
func attributesWithFlags(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case string:
		a.Value = slog.StringValue(withFlags(v))
	case error:
		a.Value = slog.StringValue(withFlags(v.Error()))
	}
	return a
}

// hinted improves an error about a flag. For a refused value or setting it returns the mistake; for an unknown flag it
// adds the setting or flag that may be meant.
func hinted(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var mistake *setting.Error
	var refused usageError
	if errors.As(err, &invalid) && errors.As(err, &refused) {
		return refused.error
	}
	if errors.As(err, &invalid) && errors.As(err, &mistake) {
		if f, ok := invalid.GetFlag().Value.(*settingFlag); ok {
			return setting.Errorf(mistake.Key, "%s", strings.Replace(mistake.Error(), mistake.Key, "--"+f.name, 1))
		}
		return mistake
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var flags, keys []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
	if cmd.Flags().Lookup("set") != nil {
		keys = slices.DeleteFunc(slices.Sorted(maps.Keys(settingKeys())), func(key string) bool {
			return key == "preset" || key == "size" // --set refuses them
		})
	}
	name := strings.ReplaceAll(unknown.GetSpecifiedName(), "-", "_")
	var found []string
	ofFlag := flagKeys[unknown.GetSpecifiedName()] // of another command
	for _, key := range keys {
		if slices.Contains(ofFlag, key) || ofFlag == nil && (key == name || strings.HasSuffix(key, "."+name)) {
			found = append(found, setTo(key))
		}
	}
	if ofFlag != nil && len(found) > 0 { // it sets them all
		return fmt.Errorf("%w: it is a setting, %s", err, strings.Join(found, " "))
	}
	if len(found) > 0 {
		return fmt.Errorf("%w: it is a setting, %s", err, setting.Alternatives(found))
	}
	near := setting.Near("--"+unknown.GetSpecifiedName(), flags)
	if key := setting.Near(name, keys); near == "" && key != "" {
		near = setTo(key)
	}
	if near == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean %s?", err, near)
}

// setTo returns how to set a setting on a command line.
func setTo(key string) string { return "--set " + key + "=VALUE" }

// oneLine returns an error as a line of text: joined errors share the line, settings have the names of their flags, and
// invisible characters are escaped.
func oneLine(err error) string { return visible.OneLine(withFlags(err.Error())) }
