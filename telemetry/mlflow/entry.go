package mlflow

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// pair is a parameter or a tag.
type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// metric is a figure at a step.
type metric struct {
	Key   string  `json:"key"`
	Value float64 `json:"value"`
	Time  int64   `json:"timestamp"` // milliseconds since 1970
	Step  int     `json:"step"`
}

// entry is something that the server is to be told. Entries are lines of the spool.
type entry struct {
	Metrics []metric `json:"metrics,omitempty"`
	Tags    []pair   `json:"tags,omitempty"`
	File    string   `json:"file,omitempty"` // of the run folder
	Status  Status   `json:"status,omitempty"`
	Ended   int64    `json:"ended,omitempty"` // with Status, milliseconds since 1970
}

// Bounds of MLflow on one request and on names. Values of parameters may be longer on newer servers; every server takes
// this many, and the artifact config.yaml has them whole.
const (
	mostMetrics  = 1000
	mostPairs    = 100
	longestKey   = 250
	longestParam = 500
	longestTag   = 5000
)

// join appends a later entry where both fit into one request.
func (e *entry) join(later entry) bool {
	alone := func(e *entry) bool { return e.File != "" || e.Status != "" }
	if alone(e) || alone(&later) || len(e.Metrics)+len(e.Tags)+len(later.Metrics)+len(later.Tags) > mostMetrics ||
		len(e.Tags)+len(later.Tags) > mostPairs {
		return false
	}
	e.Metrics, e.Tags = append(e.Metrics, later.Metrics...), append(e.Tags, later.Tags...)
	return true
}

// pairsOf lists a map in the order of its keys, within bounds. Characters that MLflow does not take become _;
// of keys that become the same one, the least value stays.
func pairsOf(values map[string]string, longest int) []pair {
	var all []pair
	for k, v := range values {
		all = append(all, pair{cut(key(k), longestKey), cut(v, longest)})
	}
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
	})
	return slices.CompactFunc(all, func(a, b pair) bool { return a.Key == b.Key })
}

// key is a name as MLflow takes it.
func key(s string) string {
	b := []byte(s)
	for i, c := range b {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !plain && c != '_' && c != '-' && c != '.' && c != ' ' && c != '/' {
			b[i] = '_'
		}
	}
	return string(b)
}

// at makes metrics of a step; what is not finite is left out, for JSON has no place for it.
func at(step int, values ...any) (all []metric) {
	now := time.Now().UnixMilli()
	for i := 0; i+1 < len(values); i += 2 {
		name, v := values[i].(string), values[i+1].(float64)
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			all = append(all, metric{cut(key(name), longestKey), v, now, step})
		}
	}
	return all
}
