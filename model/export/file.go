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

// Endings lists the endings of the files that File writes.
var Endings = []string{".onnx", ".safetensors", ".npz"}

// Ending returns the ending of a file's name in lower case, as in Endings.
func Ending(path string) string { return strings.ToLower(filepath.Ext(path)) }

// FileOptions configure the content of a file.
type FileOptions struct {
	// GraphOptions apply to .onnx files. Observed adds the weights of the noise model to other files too.
	GraphOptions
	// Metadata is the metadata of a .safetensors file.
	Metadata map[string]string
}

// Written describes a file that File has written.
type Written struct {
	File    string   `json:"file"`
	Tensors int      `json:"tensors"`
	Bytes   int64    `json:"bytes"`
	Classes int      `json:"classes"`
	Outputs []string `json:"outputs,omitempty"` // of an .onnx
	// Folded is set if batch normalisation is folded into the convolutions, so that each has a bias.
	Folded bool `json:"folded,omitempty"`
}

// String describes it in text.
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

// File writes a net in the format of the name's ending. The file is written under another name, and renamed
// when it is complete.
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
