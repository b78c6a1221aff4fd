package metrics

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/train"
)

const dockerFolder = "../../docker"

// query is an expression for Prometheus, and its location.
type query struct{ place, expr string }

func readText(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dockerFolder, name))
	expect.OK(t, err)
	return text
}

// dashboard is what is read of a dashboard of Grafana.
type dashboard struct {
	Panels []struct {
		Title, Type string
		Datasource  struct{ UID string }
		Targets     []struct {
			Expr, RefID string
			Datasource  struct{ UID string }
		}
		GridPos struct{ X, Y, W, H int }
	}
	Templating struct {
		List []struct{ Name, Definition string }
	}
	Annotations struct{ List []struct{ Name, Expr string } }
}

func readDashboard(t *testing.T) *dashboard {
	t.Helper()
	d := &dashboard{}
	expect.OK(t, json.Unmarshal(readText(t, "grafana/dashboards/training.json"), d))
	if len(d.Panels) < 10 {
		t.Fatalf("only %d panels", len(d.Panels))
	}
	return d
}

// queries are all expressions of the dashboard and of the rules.
func queries(t *testing.T) (all []query) {
	t.Helper()
	d := readDashboard(t)
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, query{"panel " + p.Title, target.Expr})
		}
	}
	for _, v := range d.Templating.List {
		all = append(all, query{"variable " + v.Name, v.Definition})
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	expect.OK(t, yaml.Unmarshal(readText(t, "rules.yml"), &rules))
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			all = append(all, query{"alert " + r.Alert, r.Expr})
		}
	}
	return all
}

// served maps each name that a scrape of a training gives to the name of its metric.
func served(t *testing.T) map[string]string {
	t.Helper()
	registry := prometheus.NewRegistry()
	m, err := New(registry)
	expect.OK(t, err)
	m.Begin(Run{Arm: "nmn-fd"})
	o := m.Observer()
	o.Step(stepDone(1))
	o.Bad(train.BadSamples{New: make([]loader.BadSample, 1)})
	o.Evaluated(evaluated(t, 1))
	o.Saved(train.Saved{})
	families, err := registry.Gather()
	expect.OK(t, err)
	names := map[string]string{}
	for _, f := range families {
		name := f.GetName()
		names[name] = name
		if f.GetType().String() == "HISTOGRAM" {
			names[name+"_bucket"], names[name+"_sum"], names[name+"_count"] = name, name, name
		}
	}
	return names
}

var (
	metricName = regexp.MustCompile(`\b(?:nmn|process)_[a-z0-9_]+`)
	asked      = regexp.MustCompile(`\bmeasure=~?"([a-z0-9_|]+)"`)
)

func TestDashboard_AsksForWhatTheProgramServes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the metrics of a process differ between systems; containers are Linux")
	}
	names := served(t)
	shown := map[string]bool{}
	for _, q := range queries(t) {
		found := metricName.FindAllString(q.expr, -1)
		if len(found) == 0 && !strings.Contains(q.expr, `up{job="nmn"}`) {
			t.Errorf("%s asks for no metric of nmn: %s", q.place, q.expr)
		}
		for _, name := range found {
			if names[name] == "" {
				t.Errorf("%s asks for %s, which is not served: %s", q.place, name, q.expr)
			}
			shown[names[name]] = true
		}
		for _, match := range asked.FindAllStringSubmatch(q.expr, -1) {
			for _, measure := range strings.Split(match[1], "|") {
				if !slices.Contains(train.Measures(), measure) {
					t.Errorf("%s asks for the measure %q, there are %q", q.place, measure, train.Measures())
				}
			}
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "nmn_") && !shown[name] {
			t.Errorf("%s is served, but neither the dashboard nor an alert shows it", name)
		}
	}
}

// The run's table sorts the labels that it has.
func TestDashboard_TableOfTheRunHasItsLabels(t *testing.T) {
	text := string(readText(t, "grafana/dashboards/training.json"))
	_, order, ok := strings.Cut(text, `"indexByName": {`)
	order, _, _ = strings.Cut(order, "}")
	for _, label := range infoLabels {
		if !ok || !strings.Contains(order, `"`+label+`": `) {
			t.Errorf("the table does not sort the label %s", label)
		}
	}
}

// Grafana shows panels over each other, and data of no source, without a word.
func TestDashboard_PanelsHaveASourceAndAPlaceOfTheirOwn(t *testing.T) {
	var sources struct{ Datasources []struct{ UID, Type string } }
	expect.OK(t, yaml.Unmarshal(readText(t, "grafana/provisioning/datasources/prometheus.yml"), &sources))
	if len(sources.Datasources) != 1 || sources.Datasources[0].Type != "prometheus" {
		t.Fatalf("sources %+v", sources)
	}
	want := sources.Datasources[0].UID
	taken := map[[2]int]string{}
	for _, p := range readDashboard(t).Panels {
		if p.Type != "row" && (p.Datasource.UID != want || len(p.Targets) == 0) {
			t.Errorf("panel %s has %d queries to source %q, want some to %q", p.Title, len(p.Targets), p.Datasource.UID, want)
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.Datasource.UID != want || refs[target.RefID] {
				t.Errorf("panel %s: query %s goes to %q, or is named twice", p.Title, target.RefID, target.Datasource.UID)
			}
			refs[target.RefID] = true
		}
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("panel %s lies at %+v of 24 columns", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("panels %s and %s lie over each other", other, p.Title)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// Prometheus's own tool evaluates the alerts on series. These include series of finished runs, which raise no alert.
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
