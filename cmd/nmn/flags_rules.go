package main

import (
	"fmt"
	"strconv"
	"strings"

	"nmn/train"
)

// rulesFlag is a list of learning-rate multipliers: pattern=factor,...
type rulesFlag struct{ target *[]train.Rule }

func (r rulesFlag) String() string {
	if r.target == nil {
		return ""
	}
	parts := make([]string, len(*r.target))
	for i, rule := range *r.target {
		parts[i] = rule.Pattern + "=" + strconv.FormatFloat(rule.Multiplier, 'g', -1, 64)
	}
	return strings.Join(parts, ",")
}

func (r rulesFlag) Set(s string) error {
	var rules []train.Rule
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		pattern, factor, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("%q: want pattern=factor", part)
		}
		multiplier, err := strconv.ParseFloat(factor, 64)
		if err != nil {
			return fmt.Errorf("%q: %q is not a number", part, factor)
		}
		rules = append(rules, train.Rule{Pattern: pattern, Multiplier: multiplier})
	}
	*r.target = rules
	return nil
}

func (r rulesFlag) Type() string { return "rules" }
