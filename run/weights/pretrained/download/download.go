// Package download is for programs that download published weights. It stands apart from package pretrained because it
// needs an HTTP client.
package download

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"nmn/internal/durable"
	"nmn/internal/lock"
	"nmn/internal/origin"
	"nmn/run/weights/pretrained"
)

// partSuffix ends the name of a file while it is not whole.
const partSuffix = ".part"

const (
	silence    = time.Minute // without a byte, after which a connection counts as broken
	mostTries  = 100         // connections for one file
	mostExcess = 2           // times the size of a file, from which a server is not taken seriously
)

// Options say how a file is downloaded.
type Options struct {
	Client   *http.Client            // makes the requests; nil for one that takes proxies from the environment
	Silence  time.Duration           // how long a connection may bring nothing; 0 for a minute
	Progress func(done, total int64) // takes how many bytes are there, and of how many; it may be nil
}

// File brings a published file into a folder, which it makes, and returns its path. A file that is there already is
// compared with the publisher's digest and never written over. What an earlier call has left unfinished is gone on
// with, and so is what a broken connection has brought. What does not have the digest is thrown away.
func File(ctx context.Context, f pretrained.File, folder string, o Options) (path string, err error) {
	path = f.Path(folder)
	if durable.Exists(path) {
		return path, check(ctx, f, path)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	if info, err := os.Stat(path + partSuffix); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: %w", path+partSuffix, durable.ErrNotRegular)
	}
	part, err := os.OpenFile(path+partSuffix, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return "", err
	}
	closed := false
	defer func() {
		if !closed {
			err = cmp.Or(err, part.Close())
		}
	}()
	if err := lock.File(part); err != nil && !errors.Is(err, lock.ErrUnsupported) {
		return "", fmt.Errorf("%s: another process downloads it: %w", part.Name(), err)
	}
	d := download{file: f, part: part, digest: sha256.New(), options: o}
	if err := d.run(ctx); err != nil {
		return "", err
	}
	if got := hex.EncodeToString(d.digest.Sum(nil)); got != f.SHA256 {
		wrong := fmt.Errorf("%s: what came has the SHA-256 %s, and the publisher's file has %s: it was thrown away",
			f.Address, got, f.SHA256)
		return "", errors.Join(wrong, part.Truncate(0), os.Remove(part.Name()))
	}
	if err := part.Sync(); err != nil {
		return "", err
	}
	closed = true
	if err := cmp.Or(part.Close(), os.Rename(part.Name(), path)); err != nil {
		return "", err
	}
	return path, durable.SyncFolder(folder)
}

func check(ctx context.Context, f pretrained.File, path string) error {
	got, err := origin.Digest(ctx, path)
	if err != nil {
		return err
	}
	if got != f.SHA256 {
		return fmt.Errorf("%s is there with the SHA-256 %s, and the publisher's file has %s: remove it, and download it "+
			"again", path, got, f.SHA256)
	}
	return nil
}

type download struct {
	file    pretrained.File
	part    *os.File
	digest  hash.Hash
	done    int64 // bytes in part and digest
	options Options
}

// run downloads all that part lacks, on several connections if they break: each must bring something.
func (d *download) run(ctx context.Context) error {
	var err error
	if d.done, err = io.Copy(d.digest, d.part); err != nil {
		return err
	}
	for range mostTries {
		before := d.done
		broken, err := d.connect(ctx)
		if err == nil || !broken || d.done <= before {
			return err
		}
	}
	return fmt.Errorf("%s: the connection broke %d times; run the same command again to continue", d.file.Address,
		mostTries)
}

// connect makes one connection for the rest of the file. broken reports that it ended too early, and another may bring
// more.
func (d *download) connect(ctx context.Context) (broken bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := cmp.Or(d.options.Silence, silence)
	silent := time.AfterFunc(patience, func() {
		cancel(fmt.Errorf("%s: nothing came for %v; run the same command again to continue", d.file.Address, patience))
	})
	defer silent.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.file.Address, http.NoBody)
	if err != nil {
		return false, err
	}
	if d.done > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
	}
	response, err := cmp.Or(d.options.Client, http.DefaultClient).Do(request)
	if err != nil {
		return false, fmt.Errorf("cannot download %s: %w; without a network, copy the file here from another computer and "+
			"name its path in place of %[1]s", d.file.Name, cause(ctx, err))
	}
	defer func() { _ = response.Body.Close() }() // what counts was read
	if whole, err := d.answered(response); whole || err != nil {
		return false, err
	}
	total := d.done + response.ContentLength
	if response.ContentLength < 0 {
		total = d.file.Bytes
	}
	if total > mostExcess*d.file.Bytes {
		return false, fmt.Errorf("%s has %d bytes, and the publisher's file about %d", d.file.Address, total, d.file.Bytes)
	}
	body := io.LimitReader(response.Body, mostExcess*d.file.Bytes-d.done)
	buffer := make([]byte, 1<<18)
	for {
		n, err := body.Read(buffer)
		silent.Reset(patience)
		if writeErr := d.keep(buffer[:n]); writeErr != nil {
			return false, writeErr
		}
		if d.options.Progress != nil && n > 0 {
			d.options.Progress(d.done, total)
		}
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return ctx.Err() == nil, fmt.Errorf("%s: after %d bytes: %w; run the same command again to continue",
				d.file.Address, d.done, cause(ctx, err))
		}
	}
}

// answered looks at the head of an answer; whole reports that nothing is missing. A server that sends all of a file, of
// which a part was asked for, has it begun anew.
func (d *download) answered(r *http.Response) (whole bool, err error) {
	switch r.StatusCode {
	case http.StatusOK:
		return false, d.restart()
	case http.StatusPartialContent:
		if from := firstByte(r.Header.Get("Content-Range")); from != d.done {
			return false, fmt.Errorf("%s: the server sends bytes from %d on, want from %d", d.file.Address, from, d.done)
		}
		return false, nil
	case http.StatusRequestedRangeNotSatisfiable: // part has all of it, or something else
		return true, nil
	}
	return false, fmt.Errorf("%s: the server answers %s", d.file.Address, r.Status)
}

// restart forgets what is there.
func (d *download) restart() error {
	d.done = 0
	d.digest.Reset()
	if _, err := d.part.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return d.part.Truncate(0)
}

// keep writes the bytes that came. The digest skips bytes that were not written whole.
func (d *download) keep(b []byte) error {
	n, err := d.part.Write(b)
	d.done += int64(n)
	_, _ = d.digest.Write(b[:n]) // a hash takes everything
	if err != nil {
		return fmt.Errorf("%w; the downloaded part is kept; run the same command again to continue", err)
	}
	return nil
}

// firstByte is where a Content-Range begins; -1 if it does not say.
func firstByte(contentRange string) int64 {
	from, _, _ := strings.Cut(strings.TrimPrefix(contentRange, "bytes "), "-")
	n, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// cause is why a context ended, if it did; else the error.
func cause(ctx context.Context, err error) error { return cmp.Or(context.Cause(ctx), err) }
