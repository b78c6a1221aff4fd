package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// kubernetesJob holds the fields of a Job, an Indexed Job or an MPIJob that the tests read.
type kubernetesJob struct {
	Spec struct {
		Completions int
		Template    podTemplate
		Slots       int `yaml:"slotsPerWorker"`
		Replicas    map[string]struct {
			Replicas int
			Template podTemplate
		} `yaml:"mpiReplicaSpecs"`
	}
}

type podTemplate struct {
	Spec struct {
		Grace      int `yaml:"terminationGracePeriodSeconds"`
		Containers []podContainer
	}
}

type podContainer struct {
	Command, Args []string
	Env           []struct{ Name string }
	Resources     struct{ Limits map[string]string }
}

// container returns the only container of a pod.
func (p podTemplate) container(t *testing.T) podContainer {
	t.Helper()
	if len(p.Spec.Containers) != 1 {
		t.Fatalf("%d containers", len(p.Spec.Containers))
	}
	return p.Spec.Containers[0]
}

func readJob(t *testing.T, file string) (job kubernetesJob) {
	t.Helper()
	if err := yaml.Unmarshal(readBytes(t, file), &job); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return job
}

// What the jobs start is what the program takes, and what they set is what it reads.
func TestKubernetes_JobsAreOfThisProgram(t *testing.T) {
	files, err := filepath.Glob("../../docker/kubernetes/job*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	read := []string{metricsVariable, pushVariable}
	for _, file := range files {
		c := readJob(t, file).Spec.Template.container(t)
		wantParts(t, must(t, asConfig(c.Args)...), "preset: ")
		for _, e := range c.Env {
			if !slices.Contains(read, e.Name) {
				t.Errorf("%s sets %s, which nothing reads", file, e.Name)
			}
		}
	}
}

// An Indexed Job has a pod for each task of stage 1 of its experiment, the Job that docs/guide/kubernetes.md makes
// of it one for each task, and the job of the tables reads the same experiment.
func TestKubernetes_ArraysHaveAPodForEachTask(t *testing.T) {
	skipShort(t, "starts processes")
	t.Parallel()
	read := func(file string) (completions int, args []string) {
		job := readJob(t, filepath.Join("../../docker/kubernetes", file))
		return job.Spec.Completions, job.Spec.Template.container(t).Args
	}
	without := func(args []string, flags ...string) []string {
		return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return slices.Contains(flags, arg) })
	}
	completions, task := read("array.yaml")
	_, collect := read("array-collect.yaml")
	const number = "--task=$(JOB_COMPLETION_INDEX)"
	same := without(task, number, "--device=cuda")
	if len(same) != len(task)-2 || !slices.Equal(same, without(collect, "--collect")) {
		t.Errorf("tasks are %q, collected is %q", task, collect)
	}
	wantParts(t, must(t, append(same, "--tasks")...), fmt.Sprintf("Run 0-%d first,", completions-1))
	count := strings.TrimSpace(must(t, append(same, "--tasks", "--count")...))
	page := readBytes(t, "../../docs/guide/kubernetes.md")
	if all := fmt.Sprintf("s/completions: %d/completions: %s/", completions, count); !strings.Contains(string(page), all) {
		t.Errorf("docs/guide/kubernetes.md does not say %q", all)
	}
	for i, arg := range task {
		if arg == number {
			task[i] = "--task=3"
		}
	}
	for _, args := range [][]string{task, collect} {
		if err := taken(args); err != nil {
			t.Errorf("nmn %q: %v", args, err)
		}
	}
}

// The launchers of MPIJobs have mpirun start this program, with what it reads of the environment, and leave it the time
// to save.
func TestKubernetes_MPIJobsStartRanksOfThisProgram(t *testing.T) {
	files, err := filepath.Glob("../../docker/kubernetes/mpijob*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		job := readJob(t, file)
		launcher, worker := job.Spec.Replicas["Launcher"].Template, job.Spec.Replicas["Worker"].Template
		c := launcher.container(t)
		at := slices.Index(c.Args, "nmn")
		if !slices.Equal(c.Command, []string{"mpirun"}) || at < 0 {
			t.Fatalf("%s starts %q %q", file, c.Command, c.Args)
		}
		starter, args := c.Args[:at], c.Args[at+1:]
		wantParts(t, must(t, asConfig(args)...), "preset: ")
		after := func(flag string) string {
			i := slices.Index(starter, flag)
			if i < 0 || i+1 >= len(starter) {
				t.Fatalf("%s: mpirun has no %s: %q", file, flag, starter)
			}
			return starter[i+1]
		}
		if ranks := job.Spec.Slots * job.Spec.Replicas["Worker"].Replicas; after("-n") != fmt.Sprint(ranks) {
			t.Errorf("%s starts %s ranks where %d have a place", file, after("-n"), ranks)
		}
		if cards, ok := worker.container(t).Resources.Limits["nvidia.com/gpu"]; ok && cards != fmt.Sprint(job.Spec.Slots) {
			t.Errorf("%s: %d ranks have %s cards", file, job.Spec.Slots, cards)
		}
		if after("-x") != metricsVariable {
			t.Errorf("%s hands on %s", file, after("-x"))
		}
		// mpirun waits equally long before and after SIGTERM.
		if wait, err := strconv.Atoi(after("odls_base_sigkill_timeout")); err != nil || wait < 30 ||
			2*wait >= launcher.Spec.Grace {
			t.Errorf("%s: mpirun takes twice %d s to end its ranks, the pod has %d", file, wait, launcher.Spec.Grace)
		}
	}
}
