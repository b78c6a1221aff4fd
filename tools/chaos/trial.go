//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// trial is one fault that happens to one scenario.
type trial struct {
	Number   int
	Commands []string
	Missed   bool     // the command ended before
	Lost     []string // what was promised and did not hold

	lab    *lab
	s      scenario
	f      fault
	ref    *reference
	folder string
	random *rand.Rand
	judge  *judge
	end    ending // of the command that ran last
}

// try lets a fault happen. Its error is one of the lab, not of nmn.
func (l *lab) try(s scenario, number int, f fault, random *rand.Rand) (*trial, error) {
	ref, err := l.reference(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	t := &trial{Number: number, lab: l, s: s, f: f, ref: ref, random: random,
		folder: filepath.Join(l.dir, fmt.Sprintf("%s-%d", s.name, number))}
	defer func() {
		if !l.keep || len(t.Lost) == 0 {
			os.RemoveAll(t.folder)
		}
	}()
	if err := s.lay(filepath.Join(l.dir, "inputs"), t.work()); err != nil {
		return nil, err
	}
	if err := t.happen(); err != nil {
		return nil, fmt.Errorf("%s, fault %d: %w", s.name, number, err)
	}
	return t, nil
}

func (t *trial) work() string { return filepath.Join(t.folder, "work") }

func (t *trial) lose(format string, args ...any) {
	t.Lost = append(t.Lost, fmt.Sprintf(format, args...))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// happen runs the whole trial: sometimes an earlier kill, the fault, its consequences, and the end.
func (t *trial) happen() error {
	old, err := t.placeOld()
	if err != nil {
		return err
	}
	if t.random.IntN(4) == 0 {
		before := fault{Kind: killed, At: 1 + t.random.IntN(max(1, t.ref.calls))}
		t.judge = &judge{fault: before}
		if err := t.run(t.s.command(), disturbance{judge: t.judge}); err != nil {
			return err
		}
	}
	if t.f.Kind == raced {
		err = t.race()
	} else {
		err = t.disturb()
	}
	if err != nil {
		return err
	}
	t.checkEnd()
	if err := t.checkOld(old); err != nil {
		return err
	}
	switch t.f.Kind {
	case changed, touched:
		err = t.tamperWithData()
	case damaged:
		err = t.damage()
	}
	if err != nil {
		return err
	}
	return t.finish()
}

func (t *trial) run(args []string, d disturbance) (err error) {
	if err := t.empty(); err != nil {
		return err
	}
	t.Commands = append(t.Commands, "nmn "+strings.Join(args, " "))
	t.end, err = t.lab.run(t.folder, args, d, t.ref.limit())
	switch {
	case err != nil:
		return err
	case t.end.hung:
		t.lose("it hangs: %s", t.end.stderr)
	case t.end.orphans:
		t.lose("processes are left that it has started")
	case strings.Contains(t.end.stderr, "panic: ") || strings.Contains(t.end.stderr, "\ngoroutine "):
		t.lose("it panics: %s", t.end.stderr)
	}
	for _, line := range t.end.unsynced {
		t.lose("%s", line)
	}
	return nil
}

// empty removes a command's files from a folder that must be a new one.
func (t *trial) empty() error {
	if t.s.fresh == "" || len(t.Commands) == 0 {
		return nil
	}
	t.Commands = append(t.Commands, "rm -r "+t.s.fresh)
	return os.RemoveAll(filepath.Join(t.work(), t.s.fresh))
}

// disturb runs the command while the fault happens.
func (t *trial) disturb() error {
	t.judge = &judge{fault: t.f}
	d := disturbance{judge: t.judge}
	switch t.f.Kind {
	case killedLate:
		d = disturbance{kill: time.Duration(t.f.Share*float64(t.ref.took)) + time.Millisecond}
	case unheard:
		d = disturbance{deaf: 1, lines: t.f.Share < .5}
		if t.f.Other {
			d.deaf = 2
		}
	}
	if err := t.run(t.s.command(), d); err != nil {
		return err
	}
	switch t.f.Kind {
	case killedLate:
		t.Missed = t.end.code >= 0
	case unheard:
	case changed, touched, damaged:
	default:
		t.Missed = t.judge.idle()
	}
	return nil
}

// race runs the command twice at once. Either of them may be refused: on a loaded machine the one that was
// started first may begin later. Neither may break the work of the other.
func (t *trial) race() error {
	if err := t.empty(); err != nil {
		return err
	}
	args := t.s.command()
	first, err := t.lab.start(t.folder, args, disturbance{})
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(t.f.Share * float64(t.ref.took)))
	t.Commands = append(t.Commands, "nmn "+strings.Join(args, " ")+" & nmn "+strings.Join(args, " "))
	second, err := t.lab.start(t.folder, args, disturbance{})
	if err != nil {
		return err
	}
	a, err := first.wait(disturbance{}, t.ref.limit())
	if err != nil {
		return err
	}
	b, err := second.wait(disturbance{}, t.ref.limit())
	if err != nil {
		return err
	}
	t.end = a
	if b.code == 0 {
		t.end = b
	}
	switch {
	case a.code != 0 && b.code != 0:
		t.lose("of two at once, both fail: %v: %s; %v: %s", a, a.stderr, b, b.stderr)
		return nil
	case a.code != 0 && !refused(a):
		t.lose("the second of two ends the first: %v: %s", a, a.stderr)
	case b.code != 0 && !refused(b):
		t.lose("the first of two ends the second: %v: %s", b, b.stderr)
	}
	return t.compare("after two at once")
}

// refused reports whether a command was refused because of another one: it found a non-empty folder, or a
// lock, and its message says so.
func refused(e ending) bool {
	return e.code == 2 || e.code == 1 && busy.MatchString(e.stderr)
}

var busy = regexp.MustCompile(`by (another )?process |another nmn .* is writing`)

// finish continues undisturbed, and compares the files with the reference.
func (t *trial) finish() error {
	if err := t.run(t.s.command(), disturbance{}); err != nil {
		return err
	}
	if t.end.code != 0 {
		t.lose("it cannot go on: %v: %s", t.end, t.end.stderr)
		return nil
	}
	if len(t.s.runs) > 0 && string(timeless(".md", []byte(t.end.stdout))) != string(timeless(".md",
		[]byte(t.ref.stdout))) {
		t.lose("standard output differs from an undisturbed run:\n%s", t.end.stdout)
	}
	return t.compare("in the end")
}

func (t *trial) compare(when string) error {
	got, err := readTree(t.work())
	if err != nil {
		return err
	}
	if t.judge != nil && t.judge.takeKept() {
		// A killed process may have left files that could not be removed. The next command removes them.
		maps.DeleteFunc(got, func(path, _ string) bool { return aside.MatchString(filepath.Base(path)) })
	}
	for _, line := range differences(got, t.ref.tree) {
		t.lose("%s: %s", when, line)
	}
	return nil
}

// placeOld sometimes puts old files at the outputs' paths. After a fault the old or the new ones must be whole.
func (t *trial) placeOld() (map[string]bool, error) {
	old := map[string]bool{}
	if t.random.IntN(2) == 0 {
		return old, nil
	}
	for _, name := range t.s.outputs {
		if err := os.WriteFile(filepath.Join(t.work(), name), []byte(oldContent), 0o666); err != nil {
			return nil, err
		}
		old[name] = true
	}
	return old, nil
}

const oldContent = "what was here before\n"

// checkOld looks at the files that were there before, and at those that the fault has left: an output is the old one
// or the new one, and all others are whole.
func (t *trial) checkOld(old map[string]bool) error {
	now, err := readTree(t.work())
	if err != nil {
		return err
	}
	for _, name := range t.s.outputs {
		content, err := os.ReadFile(filepath.Join(t.work(), name))
		switch {
		case old[name] && err != nil:
			t.lose("%s was there and cannot be read: %v", name, err)
		case err == nil && now[name] != t.ref.tree[name] && !(old[name] && string(content) == oldContent):
			t.lose("after the fault: %s is neither what was there before nor what an undisturbed run writes", name)
		}
	}
	// If a write to a log has failed, part of its line may be there. The next line must be whole.
	torn := t.f.Errno != 0 && t.judge != nil && t.judge.failed()
	for _, line := range broken(t.work(), t.s.appends) {
		name, _, _ := strings.Cut(line, " ")
		if !slices.Contains(t.s.outputs, name) && !(torn && t.s.appends(name)) {
			t.lose("after the fault: %s", line)
		}
	}
	return nil
}

// appends reports whether a file grows by lines.
func (s scenario) appends(path string) bool {
	return slices.Contains(s.appended, path) || filepath.Base(path) == "log.jsonl"
}
