package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// readJSONFile reads a file that writeJSONFile has written; nil where there is none. cure says what to do with
// one that cannot be read.
func readJSONFile[T any](path, cure string) (*T, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("%s: %w; %s", path, err, cure)
	}
	return &v, nil
}

// writeJSONFile writes a file that appears whole or not at all.
func writeJSONFile(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return writeFile(path, append(data, '\n'))
}
