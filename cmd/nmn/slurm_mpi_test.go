//go:build linux && cgo && mpi

package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/run"
)

// slurm is a cluster of SLURM on this host: a controller and two nodes, n1 and n2, of 32 processors and four cards
// each. No process opens the cards, which are copies of /dev/null. The nodes have names of their own, since Open MPI
// takes ranks on hosts of one name for ranks of one host, but share the file system and the network.
type slurm struct {
	t       *testing.T
	dir     string
	env     []string
	program *process    // the controller
	nodes   [2]*process // the daemons of n1 and n2
}

const slurmConf = `ClusterName=test
FirstJobId=%[6]d
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/%%n
TmpFS=%[2]s/%%n
SlurmctldPidFile=%[2]s/controller.pid
SlurmdPidFile=%[2]s/%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
KillWait=5
NodeName=n1 NodeAddr=127.0.0.1 Port=%[4]d CPUs=32 Gres=gpu:4
NodeName=n2 NodeAddr=127.0.0.1 Port=%[5]d CPUs=32 Gres=gpu:4
PartitionName=all Nodes=n1,n2 Default=YES
`

// newSLURM starts a cluster and waits until its nodes are idle. Its daemons end with the test.
func newSLURM(t *testing.T) *slurm {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "srun"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no SLURM: ", err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("the daemons of SLURM need root")
	}
	dir, err := os.MkdirTemp("", "nmn") // t.TempDir is too long for the path of a socket
	expect.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, err := os.Hostname()
	expect.OK(t, err)
	key := make([]byte, 1024)
	_, _ = rand.Read(key)
	ports := freePorts(t, 3)
	files := map[string]string{
		"munge.key": string(key),
		"slurm.conf": fmt.Sprintf(slurmConf, host, dir, ports[0], ports[1], ports[2],
			1+os.Getpid()), // Open MPI names shared memory by the job's number
		"gres.conf": fmt.Sprintf("NodeName=n[1-2] Name=gpu File=%s/card[0-3]\n", dir),
		"bin/nmn":   fmt.Sprintf("#!/bin/sh\nNMN_TEST_AS_COMMAND=1 exec %s \"$@\"\n", os.Args[0]),
	}
	for _, name := range []string{"bin", "state", "n1", "n2"} {
		expect.OK(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	for name, text := range files {
		mode := os.FileMode(0o600)
		if name == "bin/nmn" {
			mode = 0o755
		}
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
	}
	for i := range 4 {
		const null = 1<<8 | 3 // major and minor number of /dev/null
		if err := syscall.Mknod(filepath.Join(dir, fmt.Sprint("card", i)), syscall.S_IFCHR|0o600, null); err != nil {
			t.Skip("no devices: ", err)
		}
	}
	s := &slurm{t: t, dir: dir, env: append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"), "PATH="+
		filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "OMPI_MCA_btl_tcp_if_include=lo", "OMPI_MCA_"+sharedMemory+"="+dir)}
	t.Cleanup(func() { s.killAll("SLURM_JOB_ID=") })
	s.daemon("munged", "--foreground", "--force", "--key-file="+filepath.Join(dir, "munge.key"),
		"--socket="+filepath.Join(dir, "munge.socket"), "--pid-file="+filepath.Join(dir, "munge.pid"),
		"--log-file="+filepath.Join(dir, "munge.log"), "--seed-file="+filepath.Join(dir, "munge.seed"))
	s.program = s.daemon("slurmctld", "-D")
	for i := range s.nodes {
		s.startNode(i)
	}
	s.until("two idle nodes", func() bool { return s.call("sinfo", "--noheader", "--format=%D %T") == "2 idle" })
	return s
}

// freePorts returns numbers of TCP ports that are free.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		expect.OK(t, err)
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (s *slurm) daemon(name string, args ...string) *process {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	out := new(output)
	cmd.Stdout, cmd.Stderr = out, out
	return start(s.t, cmd)
}

// startNode starts the daemon of a node under the node's own name.
func (s *slurm) startNode(i int) {
	s.t.Helper()
	cmd := exec.Command("sh", "-c", "hostname $0 && exec slurmd -D -N $0", fmt.Sprint("n", i+1))
	cmd.Env = s.env
	out := new(output)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUTS}
	s.nodes[i] = start(s.t, cmd)
}

// until waits for something that commands of SLURM report.
func (s *slurm) until(what string, happened func() bool) {
	s.t.Helper()
	s.program.until(what, func() bool {
		time.Sleep(20 * time.Millisecond)
		return happened()
	})
}

// call returns what a command of SLURM writes to both streams. Commands may fail while daemons start.
func (s *slurm) call(name string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	out, _ := cmd.CombinedOutput()
	return strings.TrimSpace(string(out))
}

// state returns the state of a job, empty if the controller does not answer, and how often it was queued again.
func (s *slurm) state(job string) (state string, restarts int) {
	found := regexp.MustCompile(`JobState=(\w+) .*Restarts=(\d+)`).FindStringSubmatch(
		strings.ReplaceAll(s.call("scontrol", "--oneliner", "show", "job", job), "\n", " "))
	if found == nil {
		return "", 0
	}
	restarts, _ = strconv.Atoi(found[2])
	return found[1], restarts
}

// ends waits for a job to reach a state, and fails with the job's output if it ends in another.
func (s *slurm) ends(job, state, log string) {
	s.t.Helper()
	var got string
	s.until(fmt.Sprintf("job %s is %s", job, state), func() bool {
		got, _ = s.state(job)
		return !slices.Contains([]string{"", "PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED"}, got)
	})
	if got != state {
		text, _ := os.ReadFile(log)
		s.t.Fatalf("job %s is %s, want %s: %s\n%s", job, got, state, text, s.program.Stderr)
	}
}

var shorter = []string{"--set", "train.stage2_epochs=3"}

// onNodes queues a training of four ranks.
func (s *slurm) onNodes(script, dir, log string, env ...string) (job string) {
	s.t.Helper()
	args := []string{"--parsable", "--output=" + log}
	if script == "many-nodes.sh" {
		args = append(args, "--nodes=2", "--ntasks-per-node=2", "--gpus-per-node=2")
	}
	cmd := exec.Command("sbatch", slices.Concat(args, []string{"../../examples/slurm/" + script}, onFour(dir)[1:], shorter,
		[]string{"-v"})...)
	cmd.Env = slices.Concat(s.env, env, []string{"RUNS=" + dir})
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v: %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

// The scripts of examples/slurm on a cluster: a training on two nodes learns what mpirun's ranks learn, bit for bit,
// also after a warning, after scancel, and after the death of a node.
func TestMPI_SLURMTrainsOnNodes(t *testing.T) {
	s := newSLURM(t)
	in := func(name string) (dir, log string) {
		return filepath.Join(s.dir, name), filepath.Join(s.dir, name+".out")
	}
	want, _ := in("mpirun")
	trainedUnderMPI(t, 4, slices.Concat(onFour(want), shorter)...)
	dir, log := in("whole")
	s.ends(s.onNodes("many-nodes.sh", dir, log), "COMPLETED", log)
	sameRuns(t, dir, want)
	fails := s.onNodes("one-node.sh", "/dev/null/run", log)
	s.ends(fails, "FAILED", log)
	if _, restarts := s.state(fails); restarts != 0 {
		t.Error("a training that fails is queued again")
	}

	const saved = "msg=checkpoint step=26 "        // of 32 in stage 1; stage 2 has 24
	waits := event{At: saved, Do: awaitsEnd}.env() // once, since a job that is queued again begins after it
	reached := func(job, log string) {
		s.until("step 26", func() bool {
			text, _ := os.ReadFile(log)
			if state, _ := s.state(job); state == "FAILED" {
				t.Fatalf("job %s failed: %s", job, text)
			}
			return strings.Contains(string(text), saved)
		})
	}
	for _, test := range []struct {
		name, script string
		cancelled    bool
		end          func(job string)
	}{
		{"warned", "many-nodes.sh", false, func(job string) { s.call("scancel", "--batch", "--signal=USR1", job) }},
		{"requeued", "one-node.sh", false, func(job string) { s.call("scontrol", "requeue", job) }},
		{"cancelled", "many-nodes.sh", true, func(job string) { s.call("scancel", job) }},
		{"node", "many-nodes.sh", false, func(string) { s.killNode(1) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, log := in(test.name)
			job := s.onNodes(test.script, dir, log, waits)
			reached(job, log)
			if got := s.call("scontrol", "show", "step", job+".0"); !strings.Contains(got, "cpu=32,") { // 4 ranks × 8
				t.Errorf("the step of the ranks has other processors than the job: %s", got)
			}
			test.end(job)
			if test.cancelled {
				s.ends(job, "CANCELLED", log)
				if _, restarts := s.state(job); restarts != 0 {
					t.Errorf("the job was queued again")
				}
				job = s.onNodes(test.script, dir, log)
			} else {
				s.until("job "+job+" is queued again", func() bool {
					_, restarts := s.state(job)
					return restarts == 1
				})
			}
			if !durable.Exists(filepath.Join(dir, run.Stage1Folder, "last.safetensors")) {
				t.Error("nothing was saved")
			}
			s.ends(job, "COMPLETED", log)
			sameRuns(t, dir, want)
		})
	}
}

// killNode kills a node's daemon and all that runs there, has the controller notice, and starts the node again.
func (s *slurm) killNode(i int) {
	s.t.Helper()
	s.nodes[i].kill()
	name := fmt.Sprint("n", i+1)
	s.killAll("SLURMD_NODENAME=" + name + "\x00")
	s.call("scontrol", "update", "node="+name, "state=down", "reason=it died")
	s.startNode(i)
}

// killAll kills the processes of jobs whose environment holds a text.
func (s *slurm) killAll(text string) {
	processes, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range processes {
		env, _ := os.ReadFile(file) // a process may be gone
		if strings.Contains(string(env), "SLURM_CONF="+s.dir) && strings.Contains(string(env), text) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// An experiment is queued as two arrays and a job for its tables. The same command finds all of it complete, and a
// command that nmn refuses queues nothing.
func TestMPI_SLURMRunsExperiments(t *testing.T) {
	s := newSLURM(t)
	dir := filepath.Join(s.dir, "an experiment")
	array := func(more ...string) (out string, err error) {
		cmd := exec.Command("../../examples/slurm/array.sh", slices.Concat([]string{dir},
			tiny("experiment", "--arms", "baseline,nmn-fi", "--size", "quick")[1:], more)...)
		cmd.Env = s.env
		text, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(text)), err
	}
	if out, err := array("--seeds", "none"); err == nil || s.call("squeue", "--noheader") != "" {
		t.Errorf("without a list of tasks: %v: %s; the queue: %s", err, out, s.call("squeue"))
	}
	out, err := array()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(out, "\n")
	collect := lines[len(lines)-1]
	s.ends(collect, "COMPLETED", filepath.Join(dir, "collect.log"))
	if !durable.Exists(filepath.Join(dir, "index.html")) || len(lines) != 4 {
		t.Errorf("the folder holds %v after %q", fileNames(t, dir), lines)
	}
	if out, err := array(); err != nil || strings.Contains(out, "task ") {
		t.Errorf("complete runs are queued again: %v: %s", err, out)
	}
}
