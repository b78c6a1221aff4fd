package metrics

import (
	"os/exec"
	"testing"
)

// Prometheus's own tool evaluates the alerts on series. These include series of finished runs, which raise no
// alert.
func TestRules_AsPromtoolPlaysThem(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool in the path")
	}
	for _, args := range [][]string{{"check", "config", "prometheus.yml"}, {"test", "rules", "rules.test.yml"}} {
		c := exec.CommandContext(t.Context(), promtool, args...)
		c.Dir = dockerFolder
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %q: %v\n%s", args, err, out)
		}
	}
}
