package train

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseRules reads rules as FormatRules writes them: pattern=factor, with commas between them.
func ParseRules(s string) (rules []Rule, err error) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		pattern, factor, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("%q: want pattern=factor", part)
		}
		multiplier, err := strconv.ParseFloat(factor, 64)
		if err != nil {
			return nil, fmt.Errorf("%q: %q is not a number", part, factor)
		}
		rules = append(rules, Rule{Pattern: pattern, Multiplier: multiplier})
	}
	return rules, nil
}

// FormatRules writes rules on a line.
func FormatRules(rules []Rule) string {
	parts := make([]string, len(rules))
	for i, rule := range rules {
		parts[i] = rule.Pattern + "=" + strconv.FormatFloat(rule.Multiplier, 'g', -1, 64)
	}
	return strings.Join(parts, ",")
}
