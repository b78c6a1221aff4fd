package main

import (
	"fmt"
	"reflect"

	"nmn/train"
)

// noiseStartFlag is --noise-start: all settings of the noise model's start and pace under one name.
type noiseStartFlag struct{ target *train.NoiseConfig }

// noiseStarts lists the names in the order of messages.
var noiseStarts = [...]struct {
	name   string
	config func() train.NoiseConfig
}{{"scenes", train.InformedNoise}, {"paper", train.PaperNoise}}

func (n noiseStartFlag) String() string {
	for _, start := range noiseStarts {
		if n.target != nil && reflect.DeepEqual(*n.target, start.config()) {
			return start.name
		}
	}
	return ""
}

func (n noiseStartFlag) Set(s string) error {
	for _, start := range noiseStarts {
		if s == start.name {
			*n.target = start.config()
			return nil
		}
	}
	return fmt.Errorf("want %s or %s", noiseStarts[0].name, noiseStarts[1].name)
}

func (n noiseStartFlag) Type() string { return "start" }
