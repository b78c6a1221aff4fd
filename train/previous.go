package train

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"nmn/format/safetensors"
)

// wayOn adds to the error of an unreadable last checkpoint how to continue from the previous one, if there is
// one. named reports whether it did.
func (k Frame[About]) wayOn(path string, err error) (_ error, named bool) {
	var reading *fs.PathError
	unreadable := errors.Is(err, ErrCorrupt) || errors.As(err, &reading) && !errors.Is(err, fs.ErrNotExist)
	if !unreadable || filepath.Base(path) != LastName {
		return err, false
	}
	previous, step := filepath.Join(filepath.Dir(path), PreviousName), 0
	if k.with(previous, func(c *About, file *safetensors.File) error {
		step = k.Step(c)
		return whole(file)
	}) != nil {
		return err, false
	}
	return fmt.Errorf("%w; the checkpoint before it, of step %d, is whole. To go on from there, put it in its place "+
		"and resume: %s", err, step, moveCommand(previous, path)), true
}

// beginAnew adds to the error of a damaged last checkpoint, before which there is no whole one, how to begin without
// it. A training that finds no last checkpoint in its folder begins, and writes over all other files there.
func beginAnew(path string, err error) error {
	if !errors.Is(err, ErrCorrupt) || filepath.Base(path) != LastName {
		return err
	}
	return fmt.Errorf("%w; there is no intact earlier checkpoint. To start over, remove it and resume: %s",
		err, removeCommand(path))
}

// whole reads everything, so that checksums are compared.
func whole(file *safetensors.File) error {
	for _, name := range file.Names() {
		dtype, _, err := file.Info(name)
		if err == nil && dtype == safetensors.F32 {
			_, _, err = file.Float32(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moveCommand is the line of a shell that renames a file.
func moveCommand(from, to string) string {
	if runtime.GOOS == "windows" {
		return fmt.Sprintf(`move /Y "%s" "%s"`, from, to)
	}
	return fmt.Sprintf("mv %s %s", shellWord(from), shellWord(to))
}

// removeCommand is the line of a shell that removes a file.
func removeCommand(path string) string {
	if runtime.GOOS == "windows" {
		return fmt.Sprintf(`del "%s"`, path)
	}
	return "rm " + shellWord(path)
}

// shellWord quotes a word if a POSIX shell would interpret it.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (strings.ContainsRune("/._-+=:,@%", r) || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' ||
			r >= 'a' && r <= 'z')
	}
	if s != "" && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	if strings.HasPrefix(s, "-") {
		s = "./" + s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
