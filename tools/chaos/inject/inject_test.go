//go:build linux && (amd64 || arm64)

package inject

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// programEnv makes the test binary a program to be supervised, which works in the folder it is started in.
const programEnv = "INJECT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if which := os.Getenv(programEnv); which != "" {
		if err := programs[which](); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var programs = map[string]func() error{
	"saves": func() error {
		if err := os.WriteFile("aside", []byte("0123456789"), 0o644); err != nil {
			return err
		}
		fmt.Println("a line that is not written below the folder, but to a pipe")
		return os.Rename("aside", "saved")
	},
	"waits": func() error {
		heard := make(chan os.Signal, 1)
		signal.Notify(heard, unix.SIGHUP)
		if err := os.WriteFile("begun", nil, 0o644); err != nil {
			return err
		}
		return errors.New((<-heard).String())
	},
	"leaves a child": func() error {
		child := exec.Command("sleep", "3600")
		if err := child.Start(); err != nil {
			return err
		}
		return os.WriteFile("id", []byte(strconv.Itoa(child.Process.Pid)), 0o644)
	},
	"has a child": func() error {
		child := exec.Command("sh", "-c", "echo more > of-child")
		return child.Run()
	},
}

// supervised runs a program in a folder, and returns what it printed.
func supervised(t *testing.T, which, folder string, o Options) (p *Process, out string, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), programEnv+"="+which)
	cmd.Dir = folder
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	o.Watch = folder
	p, err = Start(cmd, o)
	if err != nil {
		t.Skip("this kernel, or what runs around it, does not let calls be supervised: ", err)
	}
	err = p.Wait()
	return p, b.String(), err
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestStart_TellsOfEachCallThatChangesFiles(t *testing.T) {
	dir := folder(t)
	var calls []string
	p, out, err := supervised(t, "saves", dir, Options{Judge: func(c Call) Verdict {
		calls = append(calls, fmt.Sprint(c.N, " ", c.Name, " ", c.Path, " ", c.Size))
		return Verdict{}
	}})
	if err != nil || !strings.Contains(out, "a line") {
		t.Fatalf("%v: %s", err, out)
	}
	want := []string{"1 openat aside 0", "2 write aside 10", "3 renameat saved 0"}
	if !slices.Equal(calls, want) || p.Calls() != 3 {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "saved")); err != nil || string(b) != "0123456789" {
		t.Errorf("saved %q, %v", b, err)
	}
}

func TestVerdict_CallsFailAsTold(t *testing.T) {
	for _, c := range []struct {
		at           int
		verdict      Verdict
		wantOut      string
		wantAside    string
		wantLeft     bool // aside
		wantFinished bool
	}{
		{1, Verdict{Errno: unix.EMFILE}, "too many open files", "", false, false},
		{2, Verdict{Errno: unix.ENOSPC}, "no space left on device", "", true, false},
		{2, Verdict{Half: true}, "a line", "", false, true}, // the program writes the other half
		{2, Verdict{Half: true, Errno: unix.EIO}, "input/output error", "01234", true, false},
		{2, Verdict{Half: true, Kill: true}, "", "01234", true, false},
		{3, Verdict{Errno: unix.EIO}, "input/output error", "0123456789", true, false},
		{3, Verdict{Kill: true}, "a line", "0123456789", true, false},
		{3, Verdict{Delay: time.Millisecond}, "a line", "", false, true},
	} {
		t.Run(fmt.Sprint(c.at, c.verdict), func(t *testing.T) {
			dir := folder(t)
			_, out, err := supervised(t, "saves", dir, Options{Judge: func(call Call) Verdict {
				if call.N == c.at {
					return c.verdict
				}
				return Verdict{}
			}})
			if (err == nil) != c.wantFinished || !strings.Contains(out, c.wantOut) {
				t.Errorf("%v, it prints %q, want %q", err, out, c.wantOut)
			}
			aside, missing := os.ReadFile(filepath.Join(dir, "aside"))
			if string(aside) != c.wantAside || (missing == nil) != c.wantLeft {
				t.Errorf("aside %q, %v, want %q", aside, missing, c.wantAside)
			}
			saved, missing := os.ReadFile(filepath.Join(dir, "saved"))
			if (missing == nil) != c.wantFinished || c.wantFinished && string(saved) != "0123456789" {
				t.Errorf("saved %q, %v", saved, missing)
			}
			if exit := new(exec.ExitError); c.verdict.Kill && (!errors.As(err, &exit) ||
				exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL) {
				t.Errorf("%v, want that it was killed", err)
			}
		})
	}
}

func TestVerdict_SignalArrivesBeforeTheCall(t *testing.T) {
	_, out, err := supervised(t, "waits", folder(t), Options{Judge: func(Call) Verdict {
		return Verdict{Signals: []unix.Signal{unix.SIGHUP}}
	}})
	if err == nil || out != "hangup\n" {
		t.Errorf("%v, it prints %q, want that it received the hangup", err, out)
	}
}

func TestStart_ChildrenAreSupervisedToo(t *testing.T) {
	dir := folder(t)
	_, out, err := supervised(t, "has a child", dir, Options{Judge: func(c Call) Verdict {
		if c.Path == "of-child" && c.Name == "write" {
			return Verdict{Errno: unix.ENOSPC}
		}
		return Verdict{}
	}})
	if err == nil {
		t.Errorf("the child's write did not fail: %s", out)
	}
}

func TestStart_NoProgram(t *testing.T) {
	p, err := Start(exec.Command(filepath.Join(t.TempDir(), "none")), Options{Watch: t.TempDir()})
	if err == nil {
		err = p.Wait()
	}
	if err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestWait_Orphans(t *testing.T) {
	dir := folder(t)
	_, _, err := supervised(t, "leaves a child", dir, Options{Leave: 50 * time.Millisecond})
	if !errors.Is(err, ErrOrphans) {
		t.Errorf("error %v, want ErrOrphans", err)
	}
	id, err := os.ReadFile(filepath.Join(dir, "id"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(id))
	if err != nil || pid < 2 {
		t.Fatalf("process %q: %v", id, err)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Error(err)
	}
}
