package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/internal/durable"
	"nmn/internal/expect"
)

// TestMain lets the test binary be nmn itself, for tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("NMN_TEST_AS_COMMAND") == "1" {
		os.Exit(withEvent())
	}
	debug.SetGCPercent(400) // a net of a test is small, and its garbage would be collected all the time
	code := m.Run()
	for _, folder := range trainedOnce.folders {
		_ = os.RemoveAll(folder)
	}
	os.Exit(code)
}

// asCommand returns a command that runs nmn, and what it writes.
func asCommand(args ...string) (cmd *exec.Cmd, out, stderr *output) {
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "NMN_TEST_AS_COMMAND=1")
	out, stderr = new(output), new(output)
	cmd.Stdout, cmd.Stderr = out, stderr
	return cmd, out, stderr
}

// output holds what a process has written so far.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// process is a started process. It is killed at the end of its test.
type process struct {
	*exec.Cmd
	t     *testing.T
	ended chan struct{}
	err   error // from Wait, once ended is closed
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	expect.OK(t, cmd.Start())
	p := &process{Cmd: cmd, t: t, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	return p
}

// wait waits for the end of the process and returns its error.
func (p *process) wait() error {
	p.t.Helper()
	p.until("its end", p.hasEnded)
	return p.err
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) kill() {
	_ = p.Process.Kill() // fails if the process has ended
	<-p.ended
}

// until waits until something has happened. The test fails if the process ends first. It also fails shortly before go
// test would end all tests, and then reports what the process wrote. Only the goroutine of the test may call it.
func (p *process) until(what string, happened func() bool) {
	p.t.Helper()
	var hangs <-chan time.Time
	if deadline, ok := p.t.Deadline(); ok {
		hangs = time.After(time.Until(deadline) - 10*time.Second)
	}
	for !happened() {
		select {
		case <-p.ended:
			if !happened() { // it may have happened since the last look
				p.t.Fatalf("the process has ended before %s: %v: %s", what, p.err, p.Stderr)
			}
		case <-hangs:
			p.kill()
			p.t.Fatalf("the process hangs before %s: %s", what, p.Stderr)
		case <-time.After(time.Millisecond):
		}
	}
}

// event is what a process of nmn does to itself when it writes a message. The program does not go on meanwhile: however
// busy the machine is, the event comes neither too early nor too late.
type event struct {
	At  string // part of the message; empty for the start of the program
	Nth int    // number of the message among those with this part, from 1; 0 means 1

	Do    action
	After time.Duration // if positive, the program goes on, and the event comes that much later
	Until string        // part of the message at which fillsDisk frees the disk; empty for never
}

type action string

const (
	killsItself action = "kill"
	hangs       action = "hang"          // until another process kills it
	awaitsEnd   action = "await the end" // waits until a signal asks the program to end
	fillsDisk   action = "fill the disk" // of the working folder
)

const eventVariable = "NMN_TEST_EVENT"

// env returns the environment variable that sets the event of a process.
func (e event) env() string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return eventVariable + "=" + string(text)
}

// withEvent runs the program as main does, with the event that the environment sets, if any.
func withEvent() int {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	defer endOnSignals(end)()
	t := systemTerminal(end)
	text, set := os.LookupEnv(eventVariable)
	if !set {
		return execute(ctx, os.Args[1:], t)
	}
	w := watcher{err: os.Stderr, asked: ctx.Done()}
	if err := json.Unmarshal([]byte(text), &w.event); err != nil {
		panic(err)
	}
	if w.event.At == "" {
		w.happen()
	}
	t.err = &w
	return execute(ctx, os.Args[1:], t)
}

// watcher is a standard error that makes an event happen.
type watcher struct {
	mu       sync.Mutex
	err      io.Writer
	asked    <-chan struct{} // closed once the program is asked to end
	event    event
	seen     int
	happened bool
}

func (w *watcher) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.err.Write(p)
	switch e := w.event; {
	case !w.happened && strings.Contains(string(p), e.At):
		if w.seen++; w.seen >= e.Nth {
			w.happen()
		}
	case w.happened && e.Until != "" && strings.Contains(string(p), e.Until):
		freeDisk()
	}
	return n, err
}

func (w *watcher) happen() {
	w.happened = true
	if w.event.After > 0 {
		time.AfterFunc(w.event.After, w.act)
	} else {
		w.act()
	}
}

func (w *watcher) act() {
	switch w.event.Do {
	case killsItself:
		killSelf()
	case hangs:
		select {}
	case awaitsEnd:
		<-w.asked
	case fillsDisk:
		fillDisk()
	default:
		panic(w.event.Do)
	}
}

const lastWords = "this process kills itself"

func killSelf() {
	fmt.Fprintln(os.Stderr, lastWords)
	if self, err := os.FindProcess(os.Getpid()); err != nil || self.Kill() != nil {
		panic("a process cannot kill itself")
	}
	select {}
}

// killedItself reports whether a process has ended by killsItself. Its exit code does not show that on Windows.
func killedItself(stderr *output) bool { return strings.Contains(stderr.String(), lastWords) }

const fill = "fill" // a file that takes all room

func fillDisk() {
	file, err := os.Create(fill)
	if err == nil {
		_, err = io.Copy(file, zeros{})
		_ = file.Close() // an open file keeps its room after freeDisk has removed it
	}
	if !durable.Full(err) {
		panic(err)
	}
}

func freeDisk() {
	if err := os.RemoveAll(fill); err != nil {
		panic(err)
	}
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
