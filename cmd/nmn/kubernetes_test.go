package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"os"
)

// What the jobs start is what the program takes, and what they set is what it reads.
func TestKubernetes_JobsAreOfThisProgram(t *testing.T) {
	files, err := filepath.Glob("../../docker/kubernetes/job*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	read := []string{metricsVariable, pushVariable, mlflowVariable, mlflowTokenVariable}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var job struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Args []string
							Env  []struct{ Name string }
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal(content, &job); err != nil || len(job.Spec.Template.Spec.Containers) != 1 {
			t.Fatalf("%s: %v", file, err)
		}
		c := job.Spec.Template.Spec.Containers[0]
		if !slices.Contains(c.Args, "--continue") {
			t.Errorf("%s: a second pod would not go on: %q", file, c.Args)
		}
		if out := must(t, append(c.Args, "--print-config")...); !strings.Contains(out, "preset: ") {
			t.Errorf("%s: %s", file, out)
		}
		for _, e := range c.Env {
			if !slices.Contains(read, e.Name) {
				t.Errorf("%s sets %s, which nothing reads", file, e.Name)
			}
		}
	}
}

// The same command begins a run, goes on with it, and shows it when it is complete.
func TestTrain_ContinuesByTheSameCommand(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	args := tiny("train", "--arm", "stage1", "--run-dir", dir, "--continue")
	must(t, append(args, "--max-steps", "1")...)
	if err := os.Remove(filepath.Join(dir, "result.json")); err != nil {
		t.Fatal(err)
	}
	wantUsage(t, call(t, tiny("train", "--arm", "stage1", "--run-dir", dir)...), "--resume")
	if first, again := must(t, args...), must(t, args...); first != again || !strings.Contains(first, "3 steps") {
		t.Errorf("it says %s, then %s", first, again)
	}
}
