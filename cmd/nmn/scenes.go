package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"nmn/durable"
	"nmn/eval"
	"nmn/loader"
)

func newScenes(p *program) *cobra.Command {
	c := loader.ScenesConfig{Split: "train", N: 200, Seed: 1}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "scenes DIR",
		Short: "Write pictures and captions of the built-in data set to a folder",
		Long: `Write a split of the built-in scenes data set to a folder, in the shape of COCO:
images/ with the pictures, captions_SPLIT2014.json with five captions each,
vocabulary.txt with the words, and truth.csv with what the pictures really show. It is a
way to try --captions and --images. The path of the captions goes to standard output.`,
		Example: `  nmn scenes --number 500 /tmp/scenes
  nmn train --preset scenes --captions /tmp/scenes/captions_train2014.json \
    --images /tmp/scenes/images --vocab /tmp/scenes/vocabulary.txt --run-dir runs/captions`,
		Args: arguments(p, cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			captions, err := exportScenes(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			p.log.Info("scenes written", "dir", args[0], "pictures", c.N)
			if asJSON {
				return writeJSON(p.out, map[string]any{"captions": captions, "images": filepath.Join(args[0], "images"), "pictures": c.N})
			}
			_, err = fmt.Fprintln(p.out, captions)
			return err
		},
		ValidArgsFunction: completeFolders,
	}
	data := under(cmd, "Data")
	data.string(&c.Split, "split", "`name` of the split; splits of one seed share no picture")
	data.int(&c.N, "number", "number of `pictures`")
	data.uint64(&c.Seed, "seed", "`seed` of all random draws")
	under(cmd, "Output").bool(&asJSON, "json", "write JSON")
	return cmd
}

func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// exportScenes writes the folder; the captions come last, and only where all else is whole.
func exportScenes(ctx context.Context, c loader.ScenesConfig, dir string) (captions string, err error) {
	if err := c.Validate(); err != nil {
		return "", usageError{err}
	}
	if err := loader.CheckSplitName(c.Split); err != nil {
		return "", usageError{err}
	}
	if err := refuseFilled(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	set, err := loader.Scenes(c)
	if err != nil {
		return "", err
	}
	if err := set.Vocabulary.WriteFile(filepath.Join(dir, "vocabulary.txt")); err != nil {
		return "", err
	}
	if err := writeTruth(set, c.Split, filepath.Join(dir, "truth.csv")); err != nil {
		return "", err
	}
	return loader.WriteScenes(ctx, c, dir)
}

// refuseFilled refuses a folder that has anything in it.
func refuseFilled(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return err
	}
	return usagef("%s is not empty: name a new folder, or empty this one", dir)
}

// writeTruth writes the true labels: rows are pictures, named by their files, columns words.
func writeTruth(set *loader.Set, split, path string) error {
	truth, bags, classes, err := eval.Uint8Matrix(set.Truth)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("id")
	for k := range classes {
		b.WriteString("," + set.Vocabulary.Word(k).Text)
	}
	b.WriteByte('\n')
	for i := range bags {
		b.WriteString(loader.SceneFileName(split, i))
		for _, y := range truth[i*classes : (i+1)*classes] {
			b.WriteByte(',')
			b.WriteString(strconv.Itoa(int(y)))
		}
		b.WriteByte('\n')
	}
	return writeFile(path, b.Bytes())
}

// writeFile writes aside, syncs and renames, so that path is either as before or whole.
func writeFile(path string, data []byte) error {
	if err := durable.WriteFile(path, data, 0o666); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}
