package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"nmn/internal/durable"
	"nmn/model/backbone"
	runweights "nmn/run/weights"
	"nmn/run/weights/pretrained"
	"nmn/run/weights/pretrained/download"
	"nmn/train"
)

func newWeights(p *program) *cobra.Command {
	asJSON := false
	var about backbone.Options
	cmd := &cobra.Command{
		Use:   "weights [FILE|NAME|RUN]",
		Short: "List, download and inspect pretrained weights",
		Long: `List published weights that --backbone and --init take by name; nmn weights get NAME downloads
one. With an argument, describe a file of weights or the last checkpoint of a run folder.`,
		Annotations: details(`The list has size, licence and use. The description of a file (.pth, .safetensors, .npz) has
its format, and which tensors are which layers of VGG16 or of a ResNet, as --init takes them.
If they do not fit, it gives the reason. For a vision transformer it shows which one it is and
how it needs pictures. Only names, types and shapes are read; nothing in a .pth file is run.`),
		Example: `  nmn weights
  nmn weights get dinov2-small
  nmn weights resnet50.pth --json`,
		Args: arguments(p, counted(0, 1)),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listWeights(p, asJSON)
			}
			return showWeights(p, args[0], about, asJSON)
		},
	}
	cmd.AddCommand(newWeightsGet(p))
	r := under(cmd, "Pretrained net")
	r.int(&about.Size, "input-size", "set the input size of a transformer in `pixels`")
	pretrainedFlags(r, &about)
	under(cmd, "Output").bool(&asJSON, "json", "print JSON with every tensor")
	return cmd
}

func showWeights(p *program, path string, about backbone.Options, asJSON bool) error {
	if err := checkPretrained(&about); err != nil {
		return err
	}
	if last := filepath.Join(path, train.LastName); durable.Exists(last) { // a run folder
		path = last
	}
	path, err := pretrained.Find(path)
	if err != nil {
		return usageError{err}
	}
	file, err := runweights.Recognise(path, &about)
	if err != nil {
		return err
	}
	if asJSON {
		file.Misfit = withFlags(file.Misfit)
		return writeJSON(p.out, file)
	}
	_, err = fmt.Fprint(p.out, withFlags(file.Text("--json has all")))
	return err
}

func newWeightsGet(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "get NAME...",
		Short: "Download published weights",
		Long: `Download published weights to nmn/weights in the user's cache folder, and print their paths.
Interrupted downloads continue, and the content is checked against the publisher's SHA-256.`,
		Annotations: details(`An existing file is never overwritten. HTTPS_PROXY sets a proxy.`),
		Example: `  nmn weights get dinov2-small
  nmn train pictures.csv --backbone dinov2-small --run-dir runs/mine`,
		Args: arguments(p, counted(1, anyNumber)),
		RunE: func(cmd *cobra.Command, names []string) error {
			files := make([]pretrained.File, len(names))
			for i, name := range names {
				var err error
				if files[i], err = pretrained.Named(name); err != nil {
					return err
				}
			}
			for _, f := range files {
				path, err := p.download(cmd.Context(), f)
				if err != nil {
					return err
				}
				fmt.Fprintln(p.out, path)
			}
			return nil
		},
	}
}

// listedWeights is a published file with its path.
type listedWeights struct {
	pretrained.File
	Path string `json:"path,omitempty"` // empty if it is not downloaded
}

func listWeights(p *program, asJSON bool) error {
	folder, err := pretrained.Folder()
	if err != nil {
		return err
	}
	files := pretrained.Files()
	all := make([]listedWeights, len(files))
	for i, f := range files {
		f.Use = withFlags(f.Use)
		all[i].File = f
		if at := f.Path(folder); durable.Exists(at) {
			all[i].Path = at
		}
	}
	if asJSON {
		return writeJSON(p.out, all)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSIZE\tHERE\tLICENCE\tGOOD FOR")
	for _, f := range all {
		here := "no"
		if f.Path != "" {
			here = "yes"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.Name, f.Megabytes(), here, f.Licence, f.Use)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "\nnmn weights get NAME downloads one into %s; --json has the addresses.\n", folder)
	return err
}

// download downloads a published file into the user's cache folder.
func (p *program) download(ctx context.Context, f pretrained.File) (path string, err error) {
	folder, err := pretrained.Folder()
	if err != nil {
		return "", err
	}
	var o download.Options
	if show := p.counted(f.Name, "MB"); show != nil {
		o.Progress = func(done, total int64) { show(int(done/1e6), int(total/1e6)) }
	}
	path, err = download.File(ctx, f, folder, o)
	p.status.clear()
	return path, err
}

// offers asks on a terminal whether to download a missing published file, and downloads it. done reports that
// the command can run now.
func (p *program) offers(ctx context.Context, lacks error) (done bool, err error) {
	var absent *pretrained.AbsentError
	in, ok := p.in.(descriptor)
	if !errors.As(lacks, &absent) || !ok || !term.IsTerminal(int(in.Fd())) || !p.interactive(p.err) || p.quiet {
		return false, nil
	}
	f := absent.File
	fmt.Fprintf(p.err, "%s is not downloaded yet. Download %s from %s (licence %s)? [y/N] ", f.Name, f.Megabytes(),
		f.Host(), f.Licence)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.in).ReadString('\n') // an error counts as no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case line := <-answer:
		if line != "y" && line != "yes" {
			return false, nil
		}
	}
	if _, err = p.download(ctx, f); err != nil {
		return false, err
	}
	return true, nil
}
