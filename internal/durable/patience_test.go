package durable

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

var errFull = &os.PathError{Op: "write", Path: "report.html", Err: syscall.ENOSPC}

// fullFor is a disk without room for some time from now on, and counts the tries to write to it.
func fullFor(d time.Duration) (write func() error, tries *int) {
	free, tries := time.Now().Add(d), new(int)
	return func() error {
		if *tries++; time.Now().Before(free) {
			return errFull
		}
		return nil
	}, tries
}

func TestPatiently_WaitsForRoomAndSaysSoOnce(t *testing.T) {
	for name, c := range map[string]struct {
		full, took time.Duration
		told       int
		want       error
	}{
		"there is room":       {0, 0, 0, nil},
		"there is room soon":  {time.Second, 1500 * time.Millisecond, 1, nil},
		"the disk stays full": {time.Hour, 5 * time.Second, 1, syscall.ENOSPC},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				write, _ := fullFor(c.full)
				began, told := time.Now(), 0
				err := Patiently(t.Context(), func(err error) { told++ }, write)
				if took := time.Since(began); !errors.Is(err, c.want) || took != c.took || told != c.told {
					t.Errorf("%v after %v, reported %d times, want %v after %v, reported %d times", err, took, told, c.want, c.took, c.told)
				}
			})
		})
	}
}

func TestPatiently_ReturnsOtherErrorsAtOnceAndStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		never := func(err error) { t.Errorf("reported %v", err) }
		if err := Patiently(t.Context(), never, func() error { return syscall.EIO }); !errors.Is(err, syscall.EIO) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("an error of the disk took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		write, tries := fullFor(time.Hour)
		err := Patiently(ctx, func(error) {}, write)
		if took := time.Since(began); !errors.Is(err, syscall.ENOSPC) || took != time.Second || *tries != 4 {
			t.Errorf("%v after %v and %d tries", err, took, *tries)
		}
	})
}

func TestWarnFull_NamesTheCause(t *testing.T) {
	var b strings.Builder
	WarnFull(slog.New(slog.NewTextHandler(&b, nil)))(errFull)
	for _, want := range []string{"level=WARN", "the disk is full: waiting a moment for room", "write report.html"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the log has %s, want %q", b.String(), want)
		}
	}
}

// halfFull takes a number of bytes at a time, and none while it is full.
type halfFull struct {
	room func() error
	b    strings.Builder
}

func (w *halfFull) Write(p []byte) (int, error) {
	if err := w.room(); err != nil {
		w.b.Write(p[:len(p)/2])
		return len(p) / 2, err
	}
	return w.b.Write(p)
}

func TestWriteRest_GoesOnWhereTheDiskWasFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const text = "rows that cannot be written again"
		room, tries := fullFor(time.Second)
		w := &halfFull{room: room}
		n, err := writeRest(w, []byte(text), func(write func() error) error {
			return Patiently(t.Context(), func(error) {}, write)
		})
		if n != len(text) || err != nil || w.b.String() != text || *tries < 3 {
			t.Errorf("%d bytes, %v, %d tries: %q", n, err, *tries, w.b.String())
		}
		room, _ = fullFor(time.Hour)
		w = &halfFull{room: room}
		n, err = writeRest(w, []byte(text), func(write func() error) error {
			return Patiently(t.Context(), func(error) {}, write)
		})
		if n != w.b.Len() || n == len(text) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d bytes of %d, %v", n, w.b.Len(), err)
		}
	})
}
