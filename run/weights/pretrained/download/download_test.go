package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nmn/internal/durable"
	"nmn/internal/expect"
	"nmn/run/weights/pretrained"
)

var content = []byte(strings.Repeat("weights ", 100_000))

// published is a file on a server of the test.
func published(t *testing.T, serve http.HandlerFunc) pretrained.File {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	digest := sha256.Sum256(content)
	return pretrained.File{Name: "net", Address: server.URL + "/net.pth", SHA256: hex.EncodeToString(digest[:]),
		Bytes: int64(len(content))}
}

// whole serves the file as servers do: with ranges.
func whole(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "net.pth", time.Time{}, strings.NewReader(string(content)))
}

func holds(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s has %d bytes (%v), want %d", path, len(got), err, len(want))
	}
}

func TestFile_BringsTheFileOnce(t *testing.T) {
	requests := 0
	f := published(t, func(w http.ResponseWriter, r *http.Request) { requests++; whole(w, r) })
	folder, last := filepath.Join(t.TempDir(), "cache", "weights"), int64(0)
	for range 2 {
		path, err := File(t.Context(), f, folder, Options{Progress: func(done, total int64) {
			if total != f.Bytes || done <= last {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		}})
		if err != nil || path != filepath.Join(folder, "net.pth") {
			t.Fatalf("path %q, error %v", path, err)
		}
		holds(t, path, content)
	}
	if requests != 1 || last != f.Bytes {
		t.Errorf("%d requests brought %d bytes, want 1 and %d", requests, last, f.Bytes)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, "*"+partSuffix)); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// An interrupted download goes on after the bytes that are there, across redirects, and also from a server
// without support for ranges.
func TestFile_GoesOn(t *testing.T) {
	const there = 300_000
	for name, serve := range map[string]http.HandlerFunc{
		"ranges": func(w http.ResponseWriter, r *http.Request) {
			if got, want := r.Header.Get("Range"), fmt.Sprintf("bytes=%d-", there); got != want {
				t.Errorf("asks for %q, want %q", got, want)
			}
			whole(w, r)
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/net.pth" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			whole(w, r)
		},
		"no ranges": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) },
	} {
		t.Run(name, func(t *testing.T) {
			f, folder := published(t, serve), t.TempDir()
			expect.OK(t, os.WriteFile(f.Path(folder)+partSuffix, content[:there], 0o666))
			path, err := File(t.Context(), f, folder, Options{})
			expect.OK(t, err)
			holds(t, path, content)
		})
	}
}

// A part that is whole already, because the process was killed before its last step, needs no more bytes.
func TestFile_TakesAPartThatIsWhole(t *testing.T) {
	f, folder := published(t, whole), t.TempDir()
	expect.OK(t, os.WriteFile(f.Path(folder)+partSuffix, content, 0o666))
	path, err := File(t.Context(), f, folder, Options{})
	expect.OK(t, err)
	holds(t, path, content)
}

// Connections that break bring what they can, as long as each brings something.
func TestFile_GoesOnByItselfWhenConnectionsBreak(t *testing.T) {
	requests := atomic.Int64{}
	f := published(t, func(w http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		if n > 3 {
			whole(w, r)
			return
		}
		whole(&breaking{ResponseWriter: w, left: 50_000}, r)
	})
	path, err := File(t.Context(), f, t.TempDir(), Options{})
	expect.OK(t, err)
	holds(t, path, content)
	if n := requests.Load(); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

// breaking ends a connection after some bytes.
type breaking struct {
	http.ResponseWriter
	left int
}

func (b *breaking) Write(p []byte) (int, error) {
	n, err := b.ResponseWriter.Write(p[:min(len(p), b.left)])
	if b.left -= n; b.left == 0 {
		b.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// What goes wrong is named, leaves no file under the name, and keeps the part unless its content is wrong.
func TestFile_NamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		want  string
		keeps int // bytes of the part; -1 for no part
	}{
		{"another file", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, len(content))) },
			"what came has the SHA-256", -1},
		{"cut short without a length", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Transfer-Encoding", "chunked")
			_, _ = w.Write(content[:1000])
		}, "what came has the SHA-256", -1},
		{"not there", http.NotFound, "404 Not Found", 0},
		{"an error of the server", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
			"502 Bad Gateway", 0},
		{"far too long", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "99999999999") },
			"has 99999999999 bytes, and the publisher's file about 800000", 0},
		{"always breaks", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				panic(http.ErrAbortHandler)
			}
			whole(&breaking{ResponseWriter: w, left: 5000}, r)
		}, "cannot download net", 5000},
		{"another part", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") == "" {
				whole(&breaking{ResponseWriter: w, left: 5000}, r)
			}
			w.Header().Set("Content-Range", "bytes 7-9/800000")
			w.WriteHeader(http.StatusPartialContent)
		}, "the server sends bytes from 7 on, want from 5000", 5000},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, folder := published(t, c.serve), t.TempDir()
			_, err := File(t.Context(), f, folder, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if _, err := os.Stat(f.Path(folder)); err == nil {
				t.Error("a file has the name of the whole one")
			}
			info, err := os.Stat(f.Path(folder) + partSuffix)
			switch {
			case c.keeps < 0 && err == nil:
				t.Errorf("%d wrong bytes are kept", info.Size())
			case c.keeps >= 0 && (err != nil || info.Size() != int64(c.keeps)):
				t.Errorf("the part: %v, error %v, want %d bytes", info, err, c.keeps)
			}
		})
	}
}

// A server that falls silent, and a user who gives up, end the download; what came is kept.
func TestFile_EndsWhenNothingComes(t *testing.T) {
	f := published(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(content[:1000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	folder := t.TempDir()
	_, err := File(t.Context(), f, folder, Options{Silence: 50 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "nothing came for 50ms") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = File(ctx, f, t.TempDir(), Options{Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// A full disk keeps what could be written.
func TestFile_SaysThatTheDiskIsFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer func() { _ = full.Close() }()
	d := download{part: full, digest: sha256.New()}
	if err := d.keep(content); err == nil || !strings.Contains(err.Error(), "no space left on device; the downloaded part is kept") {
		t.Errorf("error %v", err)
	}
	if d.done != 0 {
		t.Errorf("%d bytes count as written", d.done)
	}
}

// A part that is a device or a pipe would be read for ever.
func TestFile_RefusesAPartThatIsNoFile(t *testing.T) {
	f, folder := published(t, whole), t.TempDir()
	if err := os.Symlink(os.DevNull, f.Path(folder)+partSuffix); err != nil {
		t.Skip(err)
	}
	if _, err := File(t.Context(), f, folder, Options{}); !errors.Is(err, durable.ErrNotRegular) {
		t.Errorf("error %v", err)
	}
}

func TestFile_NeverWritesOverAFile(t *testing.T) {
	f, folder := published(t, whole), t.TempDir()
	expect.OK(t, os.WriteFile(f.Path(folder), []byte("mine"), 0o666))
	if _, err := File(t.Context(), f, folder, Options{}); err == nil || !strings.Contains(err.Error(), "is there with") {
		t.Errorf("error %v", err)
	}
	holds(t, f.Path(folder), []byte("mine"))
}

func TestFile_GoesThroughAProxy(t *testing.T) {
	f := published(t, http.NotFound)
	f.Address = "http://weights.invalid/net.pth"
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "weights.invalid" {
			t.Errorf("the proxy is asked for %s", r.URL)
		}
		whole(w, r)
	}))
	t.Cleanup(proxy.Close)
	at, err := url.Parse(proxy.URL)
	expect.OK(t, err)
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	if _, err := File(t.Context(), f, t.TempDir(), Options{Client: client}); err != nil {
		t.Error(err)
	}
}
