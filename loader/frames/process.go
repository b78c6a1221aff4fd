package frames

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// complaintBytes is how much is kept of what ffmpeg writes to its standard error: the beginning.
const complaintBytes = 4 << 10

// complaints keeps the beginning of the written text.
type complaints struct{ begin []byte }

func (c *complaints) Write(p []byte) (int, error) {
	room := complaintBytes - len(c.begin)
	c.begin = append(c.begin, p[:min(room, len(p))]...)
	return len(p), nil
}

// failure is the end of a child that failed.
type failure struct {
	err        error // error of the process
	complaints string
}

func (f failure) Error() string {
	if f.complaints == "" {
		return fmt.Sprintf("ffmpeg failed without a message (%v)", f.err)
	}
	return f.complaints
}

func (f failure) Unwrap() error { return f.err }

// run runs ffmpeg and passes its output to the readers: its standard output to the first, its file 3 to the
// second. If a reader fails or the context ends, the child and all processes that it has started are killed.
// memory limits the child's address space, in bytes; 0 is no limit. It returns the complaints of the child, also if it
// did not fail.
func (f *FFmpeg) run(ctx context.Context, memory uint64, args []string,
	readers ...func(io.Reader) error) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := child{cmd: exec.CommandContext(ctx, f.Path, args...)}
	if err := c.start(memory, len(readers)); err != nil {
		return "", err
	}
	// A process that has left the group and holds a pipe open would block the pipe's reader.
	stop := context.AfterFunc(ctx, c.closePipes)
	defer stop()
	var group sync.WaitGroup
	for i, read := range readers {
		group.Go(func() {
			if err := read(c.pipes[i]); err != nil {
				cancel(readError{err})
			}
		})
	}
	group.Wait()
	err := c.cmd.Wait()
	c.closePipes()
	complaint := tidy(string(c.complaint.begin), args)
	if cause := context.Cause(ctx); cause != nil {
		if r, is := errors.AsType[readError](cause); is {
			return complaint, r.cause(err, complaint)
		}
		return complaint, cause
	}
	if err != nil {
		return complaint, failure{err, complaint}
	}
	return complaint, nil
}

// readError is an error of a reader.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// cause prefers the child's message if the child ended by itself: its output ends early then.
func (e readError) cause(end error, complaint string) error {
	if exit, is := errors.AsType[*exec.ExitError](end); is && exit.Exited() && complaint != "" {
		return failure{end, complaint}
	}
	return e.error
}

// child is a process with the pipes that it writes to.
type child struct {
	cmd       *exec.Cmd
	pipes     []*os.File
	complaint complaints
}

func (c *child) start(memory uint64, pipes int) error {
	var ends []*os.File
	defer func() {
		for _, end := range ends {
			end.Close()
		}
	}()
	for range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			c.closePipes()
			return err
		}
		c.pipes, ends = append(c.pipes, r), append(ends, w)
	}
	c.cmd.Stdout, c.cmd.Stderr = ends[0], &c.complaint
	c.cmd.ExtraFiles = ends[1:]
	c.cmd.Env = append(os.Environ(), "AV_LOG_FORCE_NOCOLOR=1", "LC_ALL=C")
	c.cmd.WaitDelay = 5 * time.Second
	ownGroup(c.cmd)
	if err := c.cmd.Start(); err != nil {
		c.closePipes()
		return fmt.Errorf("%w: %w", ErrTool, err)
	}
	limit(c.cmd.Process.Pid, memory)
	return nil
}

func (c *child) closePipes() {
	for _, p := range c.pipes {
		p.Close()
	}
}

var speaker = regexp.MustCompile(`(?m)^(\[[^\]\n]* @ 0x[0-9a-f]+\] ?)+`)

// tidy makes a line of the first complaints: without addresses and the name of the file, which the
// message around it has.
func tidy(complaint string, args []string) string {
	complaint = speaker.ReplaceAllString(complaint, "")
	for _, a := range args {
		if strings.HasPrefix(a, inputScheme) {
			complaint = strings.ReplaceAll(complaint, a+": ", "")
		}
	}
	lines := strings.FieldsFunc(strings.ToValidUTF8(complaint, "?"), func(r rune) bool {
		return r == '\n' || r == '\r'
	})
	const most = 3
	if len(lines) > most {
		lines = append(lines[:most], "...")
	}
	return strings.Join(lines, "; ")
}
