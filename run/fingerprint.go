package run

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"nmn/kernels/tensor"
	"nmn/loader"
	"nmn/loader/dataset"
	"nmn/recipe"
	"nmn/run/folder"
	"nmn/train"
)

// fingerprint identifies what a run computes: its configuration but for what changes no result, its data, and the
// checkpoint that it starts from. Exact convolutions count. A precision other than fp32 counts, so that a finished
// result is never shown as one of another precision. It does not keep a run from being resumed (mayChange): checkpoints
// hold float32, and to go on with them on another device, where the precision may be another one, is the user's choice.
func fingerprint(ctx context.Context, c *Config, d *dataset.Splits, from string) (string, error) {
	values := c.learned()
	c.places().Hide(values)
	h := sha256.New()
	folder.HashText(h, recipe.JudgementForm)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		folder.HashText(h, k)
		folder.HashText(h, values[k])
	}
	if c.Run.ConvExact {
		folder.HashText(h, convExact)
	}
	if g := c.Run.Gradients; g != "" && g != GradientsFP32 {
		folder.HashText(h, gradients+" "+g)
	}
	if p := c.Run.Precision; p != tensor.Auto && p != tensor.FP32 {
		folder.HashText(h, string(p))
	}
	judged, name := d.EvaluationSplit()
	folder.HashText(h, name)
	for _, set := range []*loader.Set{d.Train, judged} {
		if err := hashSet(ctx, h, set); err != nil {
			return "", err
		}
	}
	if d.Evidence != nil {
		folder.HashText(h, "evidence")
		_ = binary.Write(h, binary.LittleEndian, d.Evidence.Float32s()) // a hash cannot fail
	}
	if d.Verified != nil {
		folder.HashText(h, "verified")
		h.Write(d.Verified.Truth)
		for _, bag := range d.Verified.Bags {
			folder.HashText(h, d.Train.IDs[bag])
		}
	}
	if from != "" {
		start, err := train.ReadCheckpoint(from)
		if err != nil {
			return "", err
		}
		data, err := json.Marshal(start)
		if err != nil {
			return "", err
		}
		folder.HashText(h, string(data))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// learned returns the settings that determine what is learned, and how, except for the device.
func (c *Config) learned() map[string]string {
	values := folder.Flatten(c)
	maps.DeleteFunc(values, func(k, _ string) bool {
		return strings.HasPrefix(k, "run.") || strings.HasPrefix(k, "build.") || strings.HasPrefix(k, "chosen") ||
			k == "train.log_steps" || k == "train.checkpoint_minutes"
	})
	return values
}

// hashSet takes in what a set is to a run: its census, and its truth where that is in memory.
func hashSet(ctx context.Context, h hash.Hash, set *loader.Set) error {
	census, err := set.Census(ctx)
	if err != nil {
		return err
	}
	h.Write(census.Digest[:])
	if set.Truth != nil {
		h.Write(set.Truth.Uint8s())
	}
	return nil
}

// identity is what must be the same on all ranks, by what it is called in messages. Pictures and shards are compared by
// name and size, and by their content if the configuration asks for that.
func (c *Config) identity(ctx context.Context, device string, d *dataset.Splits) (own map[string]string, err error) {
	own = ThisBuild().Identity()
	own["kind of device"], own["precision"] = deviceKind(device), string(c.Run.Precision)
	own["precision of gradients between ranks"] = c.Run.Gradients
	for key, value := range c.learned() {
		own["setting `"+key+"`"] = value
	}
	if c.Data.VocabularyOfModel { // the words themselves are compared
		delete(own, "setting `data.vocabulary`")
	}
	judged, _ := d.EvaluationSplit()
	for name, set := range map[string]*loader.Set{"training labels": d.Train, "validation labels": d.Validation,
		"labels of the evaluated split": judged} {
		if set == nil {
			continue
		}
		h := sha256.New()
		if err := hashSet(ctx, h, set); err != nil {
			return nil, err
		}
		own[name] = hex.EncodeToString(h.Sum(nil))
	}
	files, err := c.files(ctx, d)
	if err != nil {
		return nil, err
	}
	pictures, h := sha256.New(), sha256.New()
	for _, f := range files {
		if f.Digest != "" && !strings.Contains(f.Name, "/") {
			own["file of "+f.Name] = f.Digest
		} else {
			folder.HashText(pictures, fmt.Sprintf("%s\x00%d\x00%s", f.Name, f.Size, f.Digest))
		}
	}
	own["list of pictures or shards, by name and size,"] = hex.EncodeToString(pictures.Sum(nil))
	for _, w := range d.Train.Vocabulary.Words() {
		folder.HashText(h, w.Text+"\x00"+w.POS.String())
	}
	own["vocabulary"] = hex.EncodeToString(h.Sum(nil))
	return own, nil
}

func deviceKind(name string) string {
	if strings.HasPrefix(name, "cpu") {
		return "cpu"
	}
	return "graphics card"
}
