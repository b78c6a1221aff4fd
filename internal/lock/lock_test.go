package lock

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nmn/internal/expect"
)

// With this variable set to a path, the test binary locks it, reports that, and waits to be killed.
const holderVariable = "NMN_TEST_LOCK"

func TestMain(m *testing.M) {
	if path := os.Getenv(holderVariable); path != "" {
		l, err := Take(path)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("locked")
		for { // a select without cases would end the process: all goroutines would be asleep
			time.Sleep(time.Hour)
			runtime.KeepAlive(l)
		}
	}
	os.Exit(m.Run())
}

func TestTake_IsRefusedWithTheProcessThatHoldsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mine := taken(t, path)
	_, err := Take(path)
	var held *HeldError
	if !errors.As(err, &held) || !errors.Is(err, ErrHeld) || held.Holder.PID != os.Getpid() ||
		held.Holder.Host == "" || !strings.Contains(held.Holder.Command, filepath.Base(os.Args[0])) ||
		time.Since(held.Holder.Since) > time.Hour {
		t.Fatalf("a lock that is held: %v", err)
	}
	expect.OK(t, mine.Release())
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of a lock that was given back: %v, want none", err)
	}
	expect.OK(t, taken(t, path).Release())
}

// The kernel gives back the lock of a process that was killed, whose file stays.
func TestTake_AfterTheHolderWasKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderVariable+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	expect.OK(t, err)
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "locked\n" {
		t.Skipf("no lock in another process: %q", line)
	}
	var held *HeldError
	if _, err := Take(path); !errors.As(err, &held) || held.Holder.PID != cmd.Process.Pid {
		t.Errorf("while process %d holds the lock: %v", cmd.Process.Pid, err)
	}
	if err := Tidy(path); err != nil || !there(path) {
		t.Errorf("the file of a lock that is held: there %t, %v", there(path), err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	expect.OK(t, taken(t, path).Release())
	expect.OK(t, os.WriteFile(path, []byte(`{"pid":1,"host":"h"}`+"\n"), 0o666))
	for range 2 { // the second time there is no file
		if err := Tidy(path); err != nil || there(path) {
			t.Errorf("the file that a dead process has left: there %t, %v", there(path), err)
		}
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A link could lead to another user's file, and a file of this name could belong to another program.
func TestTake_LeavesFilesOfOthersAlone(t *testing.T) {
	dir := t.TempDir()
	theirs, link := filepath.Join(dir, "theirs"), filepath.Join(dir, "link")
	expect.OK(t, os.WriteFile(theirs, []byte("precious"), 0o666))
	if err := os.Symlink(theirs, link); err != nil {
		t.Skip(err)
	}
	for _, path := range []string{theirs, link, dir} {
		if _, err := Take(path); err == nil {
			t.Errorf("%s was locked", path)
		}
	}
	if got, err := os.ReadFile(theirs); err != nil || string(got) != "precious" {
		t.Errorf("a file of others: %q, %v", got, err)
	}
}

// A lock's file written before a power failure locks no process out: it may be cut short, or hold zeros.
func TestTake_AfterThePowerFailed(t *testing.T) {
	for _, left := range []string{"", `{"p`, `{"pid":12,"ho`, "\x00\x00\x00\x00\x00\x00\x00\x00\x00"} {
		path := filepath.Join(t.TempDir(), "lock")
		expect.OK(t, os.WriteFile(path, []byte(left), 0o666))
		expect.OK(t, taken(t, path).Release())
	}
}

// Locks are removed as they are released. Even so no two of them are held at a time.
func TestTake_NeverTwiceWhileFilesAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders, most atomic.Int32
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				l, err := Take(path)
				if err != nil {
					continue
				}
				if holders.Add(1) > 1 {
					most.Store(2)
				}
				holders.Add(-1)
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if most.Load() != 0 {
		t.Error("two have held the lock at a time")
	}
}

// A file system on which each process has its own locks grants one lock twice.
func TestTake_NoticesLocksThatAreNotKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if _, err := takeBy(path, func(*os.File) error { return nil }, os.OpenFile); !errors.Is(err, ErrUnsupported) ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want ErrUnsupported and the path", err)
	}

	// Two mounts of one folder: each refuses a second lock of its own, and does not see the other's.
	mount := func() func(*os.File) error {
		locked := false
		return func(*os.File) error {
			if locked {
				return ErrHeld
			}
			locked = true
			return nil
		}
	}
	first, err := takeBy(path, mount(), os.OpenFile)
	expect.OK(t, err)
	second, err := takeBy(path, mount(), os.OpenFile)
	expect.OK(t, err)
	if err := first.Release(); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "at the same time") ||
		!strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("the first is released with %v, want ErrUnsupported and the other process", err)
	}
	if err := second.Release(); err != nil {
		t.Errorf("the second, which was not disturbed since, is released with %v", err)
	}
}

// A network file system may take a file that was removed for one that is there, at the first opening or at the second.
func TestTake_WhereRemovedFilesAreNotForgottenAtOnce(t *testing.T) {
	for _, failing := range [][]int{{1}, {1, 2, 3}, {2}, {1, 3}} {
		path, call := filepath.Join(t.TempDir(), "l"), 0
		l, err := takeBy(path, File, func(path string, flag int, perm fs.FileMode) (*os.File, error) {
			if call++; slices.Contains(failing, call) {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
			}
			return os.OpenFile(path, flag, perm)
		})
		if errors.Is(err, ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil {
			t.Errorf("calls %v do not find it: %v", failing, err)
			continue
		}
		if _, err := Take(path); !errors.Is(err, ErrHeld) {
			t.Errorf("calls %v: taken twice: %v", failing, err)
		}
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Take(filepath.Join(t.TempDir(), "no", "l")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

// taken takes a lock, or skips the test if there are no locks here.
func taken(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := Take(path)
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	expect.OK(t, err)
	return l
}

// Terminals interpret control characters of two ranges. Letters next to them are unchanged.
func TestHolder_KeepsLettersAndNothingThatControls(t *testing.T) {
	for command, want := range map[string]string{
		"nmn train --images Ærø/été 字": "nmn train --images Ærø/été 字",
		"a\x00b\tc\x1fd":               "a?b?c?d",
		"a\x7fb\u0080c\u009bd":         "a?b?c?d",
		"a b~c\u00a0d":                 "a b~c\u00a0d",
		strings.Repeat("é", 160):       strings.Repeat("é", 160),
		strings.Repeat("é", 161):       strings.Repeat("é", 160) + "…",
	} {
		if got := (Holder{PID: 1, Host: "h", Command: command}).String(); !strings.Contains(got, "("+want+", since") {
			t.Errorf("%q is shown as %q", command, got)
		}
	}
	if got := (Holder{PID: 1, Host: "a\x1b[2Jb"}).String(); !strings.Contains(got, " on a?[2Jb (") {
		t.Errorf("the host is shown in %q", got)
	}
	if got := (Holder{}).String(); got != "another process" {
		t.Errorf("an unknown holder is %q", got)
	}
}

// The file of a process that was killed may hold more than the next one writes.
func TestTake_OverwritesAllThatAnotherHasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	expect.OK(t, os.WriteFile(path, []byte(`{"pid":1,"command":"`+strings.Repeat("x", 1<<14)+"\"}\n"), 0o666))
	mine := taken(t, path)
	defer mine.Release()
	var held *HeldError
	if _, err := Take(path); !errors.As(err, &held) || held.Holder.PID != os.Getpid() {
		t.Errorf("error %v, want one that names this process", err)
	}
}

// A lock's file may hold anything.
func TestTake_HeldByWhoKnowsWhom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	mine := taken(t, path)
	defer mine.Release()
	for _, content := range []string{"", `{"pid": 7, "host"`, `{"pid": 7, "host": 8}`} {
		expect.OK(t, errors.Join(mine.file.Truncate(0), writeAt(mine.file, content)))
		if _, err := Take(path); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), "locked by another process") {
			t.Errorf("%q: error %v", content, err)
		}
	}
}

func writeAt(file *os.File, content string) error {
	_, err := file.WriteAt([]byte(content), 0)
	return err
}
