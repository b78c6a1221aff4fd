package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/paper"
)

func TestReproduce_WritesPageMarkdownAndRecord(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "reproduction")
	args := []string{"reproduce", "--size", "smoke", "--only", "observed,figure3", "--seeds", "1", "--device", "cpu",
		"--threads", "1", "--run-dir", dir}
	plan := must(t, append(args, "--dry-run")...)
	if !strings.Contains(plan, "nets on scenes") || !strings.Contains(plan, "Nothing was written") || durable.Exists(dir) {
		t.Errorf("plan %s", plan)
	}
	if n := must(t, append(args, "--tasks", "--count")...); n != "4\n" {
		t.Errorf("%q tasks", n)
	}
	out := must(t, append(args, "-q")...)
	wantParts(t, out, "observed, scenes", filepath.Join(dir, paper.PageFile))
	page := read(t, dir, paper.PageFile)
	if !strings.Contains(page, "nmn reproduce --size smoke --seeds 1 --only figure3,observed") {
		t.Error("the page does not say how to run it again")
	}
	var record struct{ Units []struct{ Runs []any } }
	expect.OK(t, json.Unmarshal([]byte(must(t, append(args, "-q", "--json")...)), &record))
	if len(record.Units) != 1 || len(record.Units[0].Runs) != 2 {
		t.Errorf("record %+v", record)
	}
	if collected := must(t, append(args, "-q", "--collect")...); collected != out {
		t.Errorf("collected: %s, want %s", collected, out)
	}
}

// Tasks and collecting have the seeds that were chosen first, whatever time is given later.
func TestReproduce_KeepsTheSeedsOfItsFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "reproduction")
	args := []string{"reproduce", "--size", "smoke", "--only", "observed", "--device", "cpu", "--threads", "1",
		"--run-dir", dir}
	long := append(args, "--seeds", "auto:100000h") // for every seed that there can be
	c := succeeds(t, append(long, "--dry-run")...)
	wantParts(t, c.out, "hours remain for 1000 seeds")
	wantParts(t, c.err, "seeds   1 to 1000, in about ", " of 100000h0m0s")
	if durable.Exists(dir) {
		t.Error("a dry run writes")
	}
	if n := must(t, append(long, "--tasks", "--count")...); n != "4000\n" {
		t.Errorf("%q tasks", n)
	}
	expect.OK(t, os.WriteFile(filepath.Join(dir, "plan.json"),
		[]byte(strings.Replace(read(t, dir, "plan.json"), "\n   4,", "", 1)), 0o666))
	for _, seeds := range [][]string{nil, {"--seeds", "auto:1ns"}, {"--seeds", "1,2", "--seeds", "auto:1h"}} {
		c := succeeds(t, append(append(args, "--tasks", "--count"), seeds...)...)
		if c.out != "3996\n" || !strings.Contains(c.err, "seeds   999, from the folder "+dir) {
			t.Errorf("%q: %q tasks, %q", seeds, c.out, c.err)
		}
		wantFailure(t, call(t, append(append(args, "--collect"), seeds...)...), "3996 of 3996 tasks are not complete")
	}
	wantUsage(t, call(t, append(args, "--seeds", "auto:1h", "--seeds", "1,2", "--dry-run")...),
		"holds another reproduction")
	expect.OK(t, os.WriteFile(filepath.Join(dir, "plan.json"), []byte("{"), 0o666))
	wantUsage(t, call(t, append(args, "--collect")...), "plan.json")
}

func TestReproduce_RefusesWhatDoesNotFit(t *testing.T) {
	folder := t.TempDir()
	for says, args := range map[string][]string{
		"one of --tasks, --task and --collect": {"--tasks", "--collect"},
		"one of --dry-run, --tasks":            {"--dry-run", "--tasks"},
		"--partial belongs to --collect":       {"--partial"},
		"want quick, full or smoke":            {"--size", "huge"},
		"want table1, table2":                  {"--only", "table9"},
		"seeds are different":                  {"--seeds", "1,1"},
		"--coco: there is no folder":           {"--coco", filepath.Join(folder, "no")},
		"give --coco or --msrvtt too":          {"--init", filepath.Join(folder, "no")},
		"--task is 9, and the tasks are 0 to 3": {"--size", "smoke", "--only", "observed", "--seeds", "1",
			"--task", "9"},
		"invalid argument \"x\" for \"--task\"":                  {"--task", "x"},
		"\"auto:\" for \"--seeds\" flag: want a time above 0":    {"--seeds", "auto:"},
		"\"auto:0s\" for \"--seeds\" flag: want a time above 0":  {"--seeds", "auto:0s"},
		"\"auto:-1h\" for \"--seeds\" flag: want a time above 0": {"--seeds", "auto:-1h"},
		"\"auto:x\" for \"--seeds\" flag: want a time above 0":   {"--seeds", "auto:x"},
		"no seeds yet for --seeds auto:1h0m0s: call --tasks":     {"--seeds", "auto:1h", "--collect"},
		"name the seeds": {"--seeds", "auto:1h", "--task", "0"},
		"--seeds auto:1ns is less than the ": {"--size", "smoke", "--only", "observed", "--device", "cpu", "--threads", "1",
			"--seeds", "auto:1ns"},
	} {
		wantUsage(t, call(t, append([]string{"reproduce", "--run-dir", filepath.Join(folder, "r")}, args...)...), says)
	}
}
