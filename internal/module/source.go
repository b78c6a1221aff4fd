package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// renaming gives the module another path in the text of a file.
type renaming struct {
	from, to string
	folders  map[string]bool // that hold packages, or modules below this one
}

// apply returns the text of a file after the renaming.
func (r renaming) apply(file string, text []byte) ([]byte, error) {
	base := file[strings.LastIndex(file, "/")+1:]
	switch {
	case r.from == r.to || !bytes.Contains(text, []byte(r.from)):
		return text, nil
	case isGo(file):
		return r.source(text)
	case base == "go.mod" || base == "go.work":
		return r.modFile(file, text)
	}
	return r.mentions(text), nil
}

// path is an import path or a module path after the renaming. What is no folder of the module stays: it belongs to
// another module, or has its new path already.
func (r renaming) path(old string) string {
	if old == r.from {
		return r.to
	}
	if folder, ok := strings.CutPrefix(old, r.from+"/"); ok && r.folders[folder] {
		return r.to + "/" + folder
	}
	return old
}

// source renames in Go source: its imports, whatever the build tags are, and mentions in comments, such as links and
// linknames, and in strings, such as those that a generator writes. If the source was formatted it is again, which
// sorts the imports of each block anew.
func (r renaming) source(text []byte) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "", text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	imports := map[int]string{}
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		imports[files.Position(spec.Path.Pos()).Offset] = path
	}
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, scanner.ScanComments)
	var out bytes.Buffer
	done := 0
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			break
		}
		if kind != token.STRING && kind != token.COMMENT {
			continue
		}
		start := file.Offset(pos)
		end := min(start+len(literal), len(text))
		out.Write(text[done:start])
		if path, ok := imports[start]; ok {
			out.Write(requoted(text[start:end], r.path(path)))
		} else {
			out.Write(r.mentions(text[start:end]))
		}
		done = end
	}
	out.Write(text[done:])
	if bytes.Equal(out.Bytes(), text) {
		return text, nil
	}
	if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
		return out.Bytes(), nil
	}
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("cannot format the renamed source: %w", err)
	}
	return formatted, nil
}

// requoted is a path in the quotes of another one.
func requoted(old []byte, path string) []byte {
	return slices.Concat(old[:1], []byte(path), old[:1])
}

var modWord = regexp.MustCompile("[^\\s\"`()]+")

// modFile renames in a go.mod or go.work: the module itself, and modules below it where they are required or replaced.
// The module cannot have the path of one that it requires.
func (r renaming) modFile(file string, text []byte) ([]byte, error) {
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		directive, comment := line, []byte(nil)
		if i := bytes.Index(line, []byte("//")); i >= 0 {
			directive, comment = line[:i], line[i:]
		}
		for word := range bytes.FieldsSeq(directive) {
			if other := string(word); file == "go.mod" && (other == r.to || strings.HasPrefix(other, r.to+"/")) &&
				r.path(other) == other {
				return nil, fmt.Errorf("%s is another module already", other)
			}
		}
		out.Write(modWord.ReplaceAllFunc(directive, func(word []byte) []byte { return []byte(r.path(string(word))) }))
		out.Write(r.mentions(comment))
	}
	return out.Bytes(), nil
}

// inPath are the characters that, before a path, make it the end of a longer one: cmd/nmn/eval, $HOME/nmn/eval.
const inPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./~-}"

var folderPath = regexp.MustCompile(`^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*`)

// mentions renames the packages of the module where a text names them by their whole import path, as documentation
// and the flag -X of the linker do. Paths that are no package stay: nmn/log.jsonl may be a file of anybody.
func (r renaming) mentions(text []byte) []byte {
	var out bytes.Buffer
	prefix := []byte(r.from + "/")
	done := 0
	for {
		i := bytes.Index(text[done:], prefix)
		if i < 0 {
			break
		}
		start, rest := done+i, done+i+len(prefix)
		out.Write(text[done:start])
		whole := start == 0 || !strings.ContainsRune(inPath, rune(text[start-1]))
		if whole && r.folders[string(folderPath.Find(text[rest:]))] {
			out.WriteString(r.to + "/")
		} else {
			out.Write(prefix)
		}
		done = rest
	}
	out.Write(text[done:])
	return out.Bytes()
}
