//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"nmn/tools/chaos/inject"
)

// lab runs commands of scenarios, each in a folder of its own.
type lab struct {
	program, dir string
	keep         bool
	leave        time.Duration // as in inject.Options
	mutex        sync.Mutex
	references   map[string]*reference
	runs         atomic.Int64
}

// reference is a run of a scenario that nothing happens to.
type reference struct {
	once   sync.Once
	err    error
	tree   tree
	stdout string
	calls  int
	saves  map[string]int // of each checkpoint of a run folder
	took   time.Duration
}

// limit is the time after which a command counts as hanging.
func (r *reference) limit() time.Duration { return 60*time.Second + 20*r.took }

// reference returns the reference of a scenario, which runs on its first use.
func (l *lab) reference(s scenario) (*reference, error) {
	l.mutex.Lock()
	r, there := l.references[s.name]
	if !there {
		r = &reference{}
		l.references[s.name] = r
	}
	l.mutex.Unlock()
	r.once.Do(func() { r.err = l.refer(s, r) })
	return r, r.err
}

func (l *lab) refer(s scenario, r *reference) error {
	folder := filepath.Join(l.dir, "reference-"+s.name)
	defer os.RemoveAll(folder)
	if err := s.lay(filepath.Join(l.dir, "inputs"), filepath.Join(folder, "work")); err != nil {
		return err
	}
	begun := time.Now()
	end, err := l.run(folder, s.command(), disturbance{}, 10*time.Minute)
	if err != nil {
		return err
	}
	if end.code != 0 {
		return fmt.Errorf("undisturbed, it ends with exit code %d: %s", end.code, end.stderr)
	}
	if lines := append(broken(filepath.Join(folder, "work"), s.appends), end.unsynced...); len(lines) > 0 {
		return fmt.Errorf("undisturbed, %q", lines)
	}
	r.took, r.calls, r.stdout = time.Since(begun), end.calls, end.stdout
	if len(s.runs) > 0 {
		r.saves = end.saves
	}
	r.tree, err = readTree(filepath.Join(folder, "work"))
	return err
}

// disturbance is the fault that happens to one command.
type disturbance struct {
	judge *judge        // nil for none
	kill  time.Duration // time after which to kill; 0 for never
	// deaf is the stream without a reader: 1 or 2.
	deaf int
	// lines of it are read before.
	lines bool
}

// ending is how a command ended.
type ending struct {
	code           int // -1 if a signal ended it
	signal         syscall.Signal
	stdout, stderr string
	calls          int
	hung, orphans  bool
	unsynced       []string // result of syncs.missing
	saves          map[string]int
}

func (e ending) String() string {
	if e.code < 0 {
		return e.signal.String()
	}
	return fmt.Sprintf("exit code %d", e.code)
}

func (l *lab) run(folder string, args []string, d disturbance, limit time.Duration) (ending, error) {
	r, err := l.start(folder, args, d)
	if err != nil {
		return ending{}, err
	}
	return r.wait(d, limit)
}

// running is a command that runs.
type running struct {
	process *inject.Process
	folder  string
	mark    string
	begun   time.Time
	syncs   *syncs
}

// markEnv marks the processes of a command, so that remaining ones are found.
const markEnv = "NMN_CHAOS"

func (l *lab) start(folder string, args []string, d disturbance) (*running, error) {
	number := strconv.FormatInt(l.runs.Add(1), 10)
	r := &running{folder: filepath.Join(folder, "ran-"+number), mark: markEnv + "=" + strconv.Itoa(os.Getpid()) +
		"-" + number,
		syncs: newSyncs()}
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "tmp"), 0o777), os.Mkdir(r.folder, 0o777)); err != nil {
		return nil, err
	}
	cmd := exec.Command(l.program, args...)
	cmd.Dir = filepath.Join(folder, "work")
	cmd.Env = append(cmd.Environ(), r.mark, "TMPDIR="+filepath.Join(folder, "tmp"), "GOTRACEBACK=all")
	for i, stream := range []string{"stdout", "stderr"} {
		file, err := r.stream(stream, d.deaf == i+1, d.lines)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if i == 0 {
			cmd.Stdout = file
		} else {
			cmd.Stderr = file
		}
	}
	o := inject.Options{Watch: cmd.Dir, Leave: l.leave, Judge: func(c inject.Call) (v inject.Verdict) {
		if d.judge != nil {
			v = d.judge.verdict(c)
		}
		if v.Errno == 0 {
			r.syncs.see(c)
		}
		return v
	}}
	var err error
	r.begun = time.Now()
	r.process, err = inject.Start(cmd, o)
	return r, err
}

// stream is a file for the command's output, or a pipe whose reader goes away, at once or after it has read.
func (r *running) stream(name string, deaf, lines bool) (*os.File, error) {
	if !deaf {
		return os.Create(filepath.Join(r.folder, name))
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if !lines {
		return writer, reader.Close()
	}
	go func() {
		_, _ = reader.Read(make([]byte, 100))
		reader.Close()
	}()
	return writer, nil
}

// wait waits for the end. A command that takes too long must print its goroutines, and is killed.
func (r *running) wait(d disturbance, limit time.Duration) (ending, error) {
	ended := make(chan error, 1)
	go func() { ended <- r.process.Wait() }()
	var e ending
	late, killing := time.After(limit), make(<-chan time.Time)
	if d.kill > 0 {
		killing = time.After(d.kill)
	}
	var err error
	for waiting := true; waiting; {
		select {
		case err = <-ended:
			waiting = false
		case <-killing:
			_ = r.process.Signal(unix.SIGKILL)
		case <-late:
			e.hung = true
			_ = r.process.Signal(unix.SIGQUIT) // prints its goroutines
			time.AfterFunc(5*time.Second, func() { _ = r.process.Signal(unix.SIGKILL) })
		}
	}
	if errors.Is(err, inject.ErrOrphans) {
		e.orphans, err = true, killMarked(r.mark)
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return e, err
	}
	e.calls = r.process.Calls()
	if status, is := r.process.Cmd.ProcessState.Sys().(syscall.WaitStatus); is && status.Signaled() {
		e.code, e.signal = -1, status.Signal()
	} else {
		e.code = r.process.Cmd.ProcessState.ExitCode()
	}
	stdout, _ := os.ReadFile(filepath.Join(r.folder, "stdout"))
	stderr, _ := os.ReadFile(filepath.Join(r.folder, "stderr"))
	e.stdout, e.stderr = string(stdout), string(stderr)
	e.unsynced, e.saves = r.syncs.missing(e.code == 0), r.syncs.saves
	return e, nil
}

// killMarked ends the processes that a command has left.
func killMarked(mark string) error {
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range found {
		environment, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environment, append([]byte(mark), 0)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	return err
}
