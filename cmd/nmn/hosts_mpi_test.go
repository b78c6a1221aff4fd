//go:build linux && cgo && mpi

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/internal/expect"
)

// hosts are two hosts on this one, a at 10.213.0.1 and b at 10.213.0.2: each has a name and a network of its own, and a
// cable connects them. They share all folders.
type hosts struct {
	t     *testing.T
	pids  [2]int
	agent string // a program that mpirun takes for ssh
}

func newHosts(t *testing.T) *hosts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("hosts of their own need root")
	}
	for _, name := range []string{"ip", "nsenter", "mpirun"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("no hosts of their own: ", err)
		}
	}
	h := &hosts{t: t, agent: filepath.Join(t.TempDir(), "agent")}
	for i, name := range []string{"a", "b"} {
		cmd := exec.Command("sh", "-c", "hostname $0 && ip link set lo up && echo up && exec sleep inf", name)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUTS | syscall.CLONE_NEWNET}
		out := new(output)
		cmd.Stdout, cmd.Stderr = out, out
		host := start(t, cmd)
		host.until("host "+name+" is up", func() bool { return out.String() == "up\n" })
		h.pids[i] = cmd.Process.Pid
		t.Cleanup(func() { killHost(cmd.Process.Pid) })
	}
	add := exec.Command("ip", "link", "add", "cable", "netns", fmt.Sprint(h.pids[0]),
		"type", "veth", "peer", "cable", "netns", fmt.Sprint(h.pids[1]))
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i := range h.pids {
		h.on(i, "ip", "address", "add", fmt.Sprintf("10.213.0.%d/24", i+1), "dev", "cable")
		h.on(i, "ip", "link", "set", "cable", "up")
	}
	script := fmt.Sprintf("#!/bin/sh\ncase $1 in *.1) pid=%d ;; *) pid=%d ;; esac\nshift\n"+
		"exec nsenter --target $pid --net --uts sh -c \"$*\"\n", h.pids[0], h.pids[1])
	expect.OK(t, os.WriteFile(h.agent, []byte(script), 0o700))
	return h
}

// sharedMemory is Open MPI's setting of the folder in which ranks of one host share memory. Killed ranks leave files
// there.
const sharedMemory = "btl_vader_backing_directory"

// command returns a command that runs on a host.
func (h *hosts) command(i int, args ...string) *exec.Cmd {
	return exec.Command("nsenter", slices.Concat([]string{"--target", fmt.Sprint(h.pids[i]), "--net", "--uts"}, args)...)
}

func (h *hosts) on(i int, args ...string) {
	h.t.Helper()
	if out, err := h.command(i, args...).CombinedOutput(); err != nil {
		h.t.Fatalf("%q: %v: %s", args, err, out)
	}
}

// killHost kills the processes on a host, which have the host name of one that lives. It does nothing to the host of
// the test, where the number of a dead process may live again.
func killHost(pid int) {
	name := func(pid string) string {
		link, _ := os.Readlink("/proc/" + pid + "/ns/uts")
		return link
	}
	host := name(strconv.Itoa(pid))
	if host == "" || host == name("self") {
		return
	}
	processes, _ := os.ReadDir("/proc")
	for _, p := range processes {
		if pid, err := strconv.Atoi(p.Name()); err == nil && name(p.Name()) == host {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// train is mpirun on host a, with two ranks of a training on each host.
func (h *hosts) train(args ...string) (cmd *exec.Cmd, stderr *output) {
	cmd = h.command(0, slices.Concat([]string{"mpirun", "--oversubscribe", "--host", "10.213.0.1:2,10.213.0.2:2", "--mca",
		"plm_rsh_agent", h.agent, "--mca", sharedMemory, h.t.TempDir(), "-x", "NMN_TEST_AS_COMMAND", os.Args[0]}, args)...)
	cmd.Env = ofMPI(h.t)
	stderr = new(output)
	cmd.Stderr = stderr
	cmd.WaitDelay = time.Second // daemons on b may hold the stream for longer than mpirun lives
	return cmd, stderr
}

// Ranks of two hosts learn what the ranks of one learn, bit for bit: without faults, with a cable that is out for five
// seconds, and after a cable that stays out.
func TestMPI_TwoHosts(t *testing.T) {
	h := newHosts(t)
	in := func(name string) string { return filepath.Join(t.TempDir(), name) }
	want := in("one")
	trainedUnderMPI(t, 4, onFour(want)...)
	dir := in("two")
	cmd, stderr := h.train(onFour(dir)...)
	job := start(t, cmd)
	job.until("three steps", func() bool { return steps(dir) >= 3 })
	h.on(1, "ip", "link", "set", "cable", "down")
	time.Sleep(5 * time.Second) // the time that is tried
	h.on(1, "ip", "link", "set", "cable", "up")
	if err := job.wait(); err != nil {
		t.Fatalf("a cable that is out for five seconds: %v: %s", err, stderr)
	}
	sameRuns(t, dir, want)

	dir = in("lost")
	cmd, stderr = h.train(append(onFour(dir), "--rank-timeout", "5s")...)
	job = start(t, cmd)
	job.until("three steps", func() bool { return steps(dir) >= 3 })
	h.on(1, "ip", "link", "set", "cable", "down")
	if err := job.wait(); err == nil || !strings.Contains(stderr.String(), "(b, process") {
		t.Errorf("a cable that stays out: %v: %s", err, stderr)
	}
	trainedUnderMPI(t, 4, onFour(dir)...) // on the host that is left
	sameRuns(t, dir, want)
}
