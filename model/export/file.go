package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"nmn/internal/durable"
	"nmn/model"
)

// Endings are those of files that File writes.
var Endings = []string{".onnx", ".safetensors", ".npz"}

// Ending is that of a file's name, as Endings has it where it is one of them.
func Ending(path string) string { return strings.ToLower(filepath.Ext(path)) }

// FileOptions say what is written to a file.
type FileOptions struct {
	// GraphOptions are those of an .onnx. With Observed the weights of the noise model go to other files too.
	GraphOptions
	// Metadata is that of a .safetensors.
	Metadata map[string]string
}

// Written tells what File has written.
type Written struct {
	File    string   `json:"file"`
	Tensors int      `json:"tensors"`
	Bytes   int64    `json:"bytes"`
	Classes int      `json:"classes"`
	Outputs []string `json:"outputs,omitempty"` // of an .onnx
	// Folded says that the convolutions hold what batch normalisation did elsewhere: each has a bias.
	Folded bool `json:"folded,omitempty"`
}

// String describes it for people.
func (w Written) String() string {
	text := fmt.Sprintf("%s: %d tensors, %d classes, %d bytes", w.File, w.Tensors, w.Classes, w.Bytes)
	if len(w.Outputs) > 0 {
		text += ", outputs " + strings.Join(w.Outputs, " and ")
	}
	if w.Folded {
		text += "; " + foldedText
	}
	return text
}

// File writes a net in the format that the ending of the name says. The file is streamed aside and gets its name when
// it is whole.
func File(path string, net *model.Net, o FileOptions) (done Written, err error) {
	done = Written{File: path, Classes: net.Config().Classes, Folded: net.Config().Residual != model.Plain}
	f, err := durable.Create(path, 0o666)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	switch Ending(path) {
	case ".onnx":
		done.Outputs = []string{Probabilities}
		if o.Observed {
			done.Outputs = append(done.Outputs, Observed)
		}
		done.Tensors, err = ONNX(buffered, net, o.GraphOptions)
	case ".npz":
		done.Tensors, err = NPZ(buffered, net, o.Observed)
	case ".safetensors":
		done.Tensors, err = Safetensors(f, net, o.Observed, o.Metadata)
	default:
		err = fmt.Errorf("export: the name of %q must end in one of %s", path, strings.Join(Endings, ", "))
	}
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		done.Bytes, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = f.Commit()
	}
	return done, err
}
