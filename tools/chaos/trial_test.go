//go:build linux && (amd64 || arm64)

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nmn/internal/expect"
	"nmn/tools/chaos/inject"
)

// labOf tries a shell script in place of nmn.
func labOf(t *testing.T, script string) *lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	expect.OK(t, err)
	program := filepath.Join(dir, "program")
	expect.OK(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o777))
	if probe, err := inject.Start(exec.Command("true"), inject.Options{Watch: dir}); err != nil {
		t.Skip("calls cannot be supervised here: ", err)
	} else if err := probe.Wait(); err != nil {
		t.Fatal(err)
	}
	return &lab{program: program, dir: dir, leave: time.Hour, references: map[string]*reference{}}
}

func tryOn(t *testing.T, l *lab, f fault) *trial {
	t.Helper()
	s := scenario{name: "a", args: "a", outputs: []string{"out.json"}}
	// Of the numbers from 1 on, one without a kill before and with an old file.
	for n := 1; ; n++ {
		probe := source(1, s.name, n)
		if probe.IntN(2) == 1 && probe.IntN(4) != 0 {
			result, err := l.try(s, n, f, source(1, s.name, n))
			expect.OK(t, err)
			return result
		}
	}
}

// The trial must find the losses of a careless program, and none in a careful one.
func TestTry_TellsCarelessFromCareful(t *testing.T) {
	const careful = `echo '{"a": 1}' > aside && sync aside && mv aside out.json && sync . || { rm -f aside; exit 1; }`
	for _, c := range []struct {
		name, script string
		fault        fault
		lost         string // part of its message; empty if nothing is lost
	}{
		{"careful, killed", careful, fault{Kind: killed, At: 3}, ""},
		{"in place, killed", `echo '{"a": 1}' > out.json`, fault{Kind: killed, At: 2, Half: true}, "out.json is neither"},
		{"in place, disk full", `echo '{"a": 1}' > out.json || exit 0`, fault{Kind: failsOnce, At: 2, Errno: unix.ENOSPC},
			"out.json differs"},
		{"silent about a full disk", `echo '{"a": 1}' > out.json 2>/dev/null || exit 1`,
			fault{Kind: failsOnce, At: 2, Errno: unix.ENOSPC}, "does not contain"},
		{"leaves its aside", `echo '{"a": 1}' > .out.json$$ && sync .out.json$$ && mv .out.json$$ out.json && sync .`,
			fault{Kind: killed, At: 2}, "left over"},
		{"heeds no signal", careful, fault{Kind: signalled, At: 1, Signals: []unix.Signal{unix.SIGTERM}},
			"without having saved"},
		{"leaves a child", `sleep 30 & ` + careful, fault{Kind: delayed, At: 1}, "processes are left"},
		{"panics", `echo 'panic: no' >&2; ` + careful, fault{Kind: delayed, At: 1}, "it panics"},
		{"another result", `echo $$ > out.json`, fault{Kind: delayed, At: 1}, "out.json differs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := labOf(t, c.script)
			if c.name == "leaves a child" {
				l.leave = 100 * time.Millisecond
			}
			result := tryOn(t, l, c.fault)
			found := strings.Join(result.Lost, "; ")
			if result.Missed || (c.lost == "") != (found == "") || !strings.Contains(found, c.lost) {
				t.Errorf("missed %v, lost %q, want %q", result.Missed, found, c.lost)
			}
		})
	}
}

// Of two processes at once either may be refused. Neither may break the work of the other. The first one of
// these begins late, when the second has ended.
func TestTry_TwoAtOnce(t *testing.T) {
	for name, c := range map[string]struct{ late, lost string }{
		"refused":             {`echo 'out.json is being written by process 7 on h' >&2; exit 1`, ""},
		"not empty":           {`echo 'there is an out.json' >&2; exit 2`, ""},
		"writes it once more": {`:`, ""},
		"is broken":           {`echo 'rename aside: no such file' >&2; exit 1`, "the second of two ends the first"},
		"breaks the other": {`rm out.json; echo 'there is an out.json' >&2; exit 2`,
			"after two at once: out.json is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			// The first process of a lab belongs to the reference.
			l := labOf(t, `case $NMN_CHAOS in *-2) until [ -e ../tmp/over ]; do sleep .01; done; `+c.late+`;; esac
echo '{"a": 1}' > aside && sync aside && mv aside out.json && sync . && : > ../tmp/over`)
			found := strings.Join(tryOn(t, l, fault{Kind: raced, Share: .5}).Lost, "; ")
			if (c.lost == "") != (found == "") || !strings.Contains(found, c.lost) {
				t.Errorf("lost %q, want %q", found, c.lost)
			}
		})
	}
}

// A crash of the machine cannot be tried, but a program that does not sync is seen by its calls.
func TestReference_FindsWhatIsNotSynced(t *testing.T) {
	for script, want := range map[string]string{
		`echo '{}' > aside && sync aside && mv aside out.json && sync .`: "",
		`echo '{}' > aside && mv aside out.json && sync .`:               "out.json got its name before it was synced",
		`echo '{}' > aside && sync aside && mv aside out.json`: "the folder . was not synced after out.json got " +
			"its name",
		`mkdir aside && echo '{}' > aside/a.json && mv aside out`: "out got its name before it was synced",
	} {
		_, err := labOf(t, script).reference(scenario{name: "a", args: "a"})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", script, err, want)
		}
	}
}

func TestFigures_CountByKind(t *testing.T) {
	f := newFigures(&settings{seed: 3})
	f.add(&trial{f: fault{Kind: killed}})
	f.add(&trial{f: fault{Kind: killed}, Lost: []string{"all"}})
	f.add(&trial{f: fault{Kind: delayed}, Missed: true})
	if two := (count{tried: 2, lost: 1}); f.all != two || f.kinds[killed] != two || f.missed != 1 || len(f.kinds) != 1 {
		t.Errorf("%+v", f)
	}
}
