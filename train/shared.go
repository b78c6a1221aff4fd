package train

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"nmn/format/safetensors"
	"nmn/group"
)

// Of several ranks the first writes checkpoints. The others write stubs, which hold what checkpoints say of themselves
// and no tensor, so that all find the same files; whoever wants tensors gets the file of rank 0.

// stubKey marks a stub in its metadata.
const stubKey = "nmn.stub"

// errStub is the error of who wants the tensors of a stub.
var errStub = errors.New("it is the stub of a checkpoint, which another rank of the same job has written: " +
	"its tensors are in the folder of rank 0")

// checkStub refuses a stub where tensors are wanted, and one that makes no sense.
func (k Frame[About]) checkStub(about *About) error {
	if !k.stubs {
		return errStub
	}
	return k.Check(about, math.MaxInt)
}

// ReplaceStub is Replace for a rank whose checkpoints rank 0 writes: it writes no tensors.
func (k Frame[About]) ReplaceStub(path, previous string, about *About, _ []safetensors.Tensor) (size int64, err error) {
	meta, err := json.Marshal(about)
	if err == nil {
		size, err = safetensors.ReplaceFile(path, previous, map[string]string{k.Key: string(meta), stubKey: "1"}, nil)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: cannot save the stub %q: %w", k.Room, path, err)
	}
	return size, nil
}

// Stub returns the bytes of the stub of a checkpoint, of a classifier or a captioner.
func Stub(path string) ([]byte, error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return nil, fmt.Errorf("training: cannot open the checkpoint: %w", err)
	}
	defer file.Close()
	meta := map[string]string{stubKey: "1"}
	for key, value := range file.Metadata {
		if key != "format" {
			meta[key] = value
		}
	}
	folder, err := os.MkdirTemp("", "stub-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	stub := filepath.Join(folder, "stub")
	if _, err := safetensors.ReplaceFile(stub, "", meta, nil); err != nil {
		return nil, fmt.Errorf("training: cannot make the stub of %q: %w", path, err)
	}
	return os.ReadFile(stub)
}

// WithShared is With on the ranks of a group, nil for none, which call it together: all of them get the checkpoint that
// rank 0 has at the path, and an error of one ends it on all. f must not speak to the group.
func (k Frame[About]) WithShared(g group.Group, path string, f func(*About, *safetensors.File) error) error {
	return k.share(group.Of(g), path, k.With, f)
}

// ResumeShared is Resume likewise.
func (k Frame[About]) ResumeShared(g group.Group, path string, f func(*About, *safetensors.File) error) error {
	return k.share(group.Of(g), path, k.Resume, f)
}

func (k Frame[About]) share(g group.Group, path string,
	read func(string, func(*About, *safetensors.File) error) error, f func(*About, *safetensors.File) error) error {
	if g.Size() == 1 {
		return read(path, f)
	}
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		folder = "" // of the system, for a rank that has not written anything there yet
	}
	local, err := group.File(g, path, folder)
	if err != nil {
		nothing := func(*About, *safetensors.File) error { return nil }
		if g.Rank() == 0 { // where it cannot be opened, this says what is to be done
			return cmp.Or(read(path, nothing), err)
		}
		return fmt.Errorf("%s: checkpoint %q of rank 0: %w", k.Room, path, err)
	}
	err = read(local, f)
	if g.Rank() > 0 {
		if removing := os.Remove(local); err == nil {
			err = removing
		}
	}
	return group.Agree(g, err)
}
