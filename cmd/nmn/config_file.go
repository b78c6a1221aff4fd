package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configLimit is the largest configuration file that is read, in bytes.
const configLimit = 1 << 20

// readConfigFile reads the content of a configuration file.
func readConfigFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("cannot read the configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, configLimit+1))
	if err != nil {
		return nil, usagef("cannot read the configuration: %w", err)
	}
	if len(data) > configLimit {
		return nil, usagef("%s: larger than %d bytes: this is not a configuration file", path, configLimit)
	}
	return data, nil
}

// readConfig lays the values of a YAML file over those in config. A key that config does not have is
// an error with its line, and so is a value of another type; name is for messages.
func readConfig(name string, data []byte, config any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	switch err := decoder.Decode(config); {
	case errors.Is(err, io.EOF): // an empty file changes nothing
		return nil
	case err != nil:
		return usageError{configError(name, err)}
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return usagef("%s: more than one YAML document: a configuration is one", name)
	}
	return nil
}

var (
	unknownField = regexp.MustCompile(`^line (\d+): field (.*) not found in type .*$`)
	wrongType    = regexp.MustCompile(`^line (\d+): cannot unmarshal !!\S+ (.*) into (.*)$`)
	otherFault   = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
)

// configError says each fault as file:line: fault, all on one line.
func configError(name string, err error) error {
	faults := []string{err.Error()}
	var types *yaml.TypeError
	if errors.As(err, &types) {
		faults = types.Errors
	}
	for i, fault := range faults {
		faults[i] = configFault(name, strings.ReplaceAll(fault, "\n", " "))
	}
	return errors.New(strings.Join(faults, "; "))
}

func configFault(name, fault string) string {
	if m := unknownField.FindStringSubmatch(fault); m != nil {
		return fmt.Sprintf("%s:%s: unknown key %q (--print-config lists all keys)", name, m[1], m[2])
	}
	if m := wrongType.FindStringSubmatch(fault); m != nil {
		return fmt.Sprintf("%s:%s: %s is not %s", name, m[1], m[2], article(m[3]))
	}
	if m := otherFault.FindStringSubmatch(fault); m != nil {
		return fmt.Sprintf("%s:%s: %s", name, m[1], m[2])
	}
	return fmt.Sprintf("%s: %s", name, strings.TrimPrefix(fault, "yaml: "))
}

// article names a Go type for people.
func article(goType string) string {
	switch {
	case goType == "bool":
		return "true or false"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"):
		return "a whole number"
	case strings.HasPrefix(goType, "float"):
		return "a number"
	case goType == "time.Duration":
		return "a duration such as 7m or 30s"
	case strings.HasPrefix(goType, "["):
		return "a list"
	case goType == "string":
		return "text"
	}
	return "a section of keys"
}
