package pretrained

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"nmn/internal/durable"
	"nmn/internal/setting"
)

// File is a file of weights that others have published.
type File struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	SHA256  string `json:"sha256"` // of the whole file, in hexadecimal digits
	Bytes   int64  `json:"bytes"`  // about: the digest decides what is the file
	Licence string `json:"licence"`
	Use     string `json:"use"` // what it is good for
}

// Files lists the files: what most people want first, and the smaller ones of a kind first.
func Files() []File {
	const (
		meta       = "https://dl.fbaipublicfiles.com/dinov2/"
		openAI     = "https://huggingface.co/openai/"
		torch      = "https://download.pytorch.org/models/"
		torchTerms = "BSD-3-Clause (torchvision)"
		features   = "features (`net.backbone`)"
		wholeNets  = "features, or a whole net to train on (`net.weights`)"
	)
	return []File{
		{Name: "dinov2-small", Address: meta + "dinov2_vits14/dinov2_vits14_pretrain.pth",
			SHA256: "b938bf1bc15cd2ec0feacfe3a1bb553fe8ea9ca46a7e1d8d00217f29aef60cd9",
			Bytes:  88_283_115, Licence: "Apache-2.0",
			Use: features + ": a good start on a CPU"},
		{Name: "dinov2-base", Address: meta + "dinov2_vitb14/dinov2_vitb14_pretrain.pth",
			SHA256: "0b8b82f85de91b424aded121c7e1dcc2b7bc6d0adeea651bf73a13307fad8c73",
			Bytes:  346_378_731, Licence: "Apache-2.0",
			Use: features + ": better ones, for four times the work"},
		{Name: "clip-b32",
			Address: openAI + "clip-vit-base-patch32/resolve/3d74acf9a28c67741b2f4f2ea7635f0aaf6f0268/pytorch_model.bin",
			SHA256:  "a63082132ba4f97a80bea76823f544493bffa8082296d62d71581a4feff1576f",
			Bytes:   605_247_071, Licence: "MIT",
			Use: features + ": fast; for things that captions name"},
		{Name: "clip-b16",
			Address: openAI + "clip-vit-base-patch16/resolve/57c216476eefef5ab752ec549e440a49ae4ae5f3/pytorch_model.bin",
			SHA256:  "ec89c7b09c749a60aae3c9cd910516f24b58214a7df060b48962d14c469cfbf0",
			Bytes:   598_641_023, Licence: "MIT",
			Use: features + ": finer ones, for four times the work"},
		{Name: "vit-b16", Address: torch + "vit_b_16-c867db91.pth",
			SHA256: "c867db91d3e12c6cbadabb610d73c24a546bf82d8c03a9fea34f43a712ddb0e9",
			Bytes:  346_328_529, Licence: torchTerms,
			Use: features + ": trained on the labels of ImageNet"},
		{Name: "resnet18", Address: torch + "resnet18-f37072fd.pth",
			SHA256: "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec",
			Bytes:  46_830_571, Licence: torchTerms,
			Use: wholeNets},
		{Name: "resnet34", Address: torch + "resnet34-b627a593.pth",
			SHA256: "b627a593bcbe140c234610266fe4f8ae95ea42fc881d091c9b6052e6b1d0590f",
			Bytes:  87_319_819, Licence: torchTerms,
			Use: wholeNets},
		{Name: "resnet50", Address: torch + "resnet50-0676ba61.pth",
			SHA256: "0676ba61b6795bbe1773cffd859882e5e297624d384b6993f7c9e683e722fb8a",
			Bytes:  102_530_333, Licence: torchTerms,
			Use: wholeNets},
		{Name: "vgg16", Address: torch + "vgg16-397923af.pth",
			SHA256: "397923af8e79cdbb6a7127f12361acd7a2f83e06b05044ddf496e83de57a5bf0",
			Bytes:  553_433_881, Licence: torchTerms,
			Use: "the paper's net (`net.weights`), or features"},
	}
}

// Named is the file of a name.
func Named(name string) (File, error) {
	all := Files()
	if i := slices.IndexFunc(all, func(f File) bool { return f.Name == name }); i >= 0 {
		return all[i], nil
	}
	return File{}, setting.Errorf("", "there are no published weights %q, want one of %s", name,
		strings.Join(names(), ", "))
}

func names() []string {
	all := Files()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	return names
}

// Folder is where downloads lie: nmn/weights in the user's cache folder.
func Folder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no cache folder for downloaded weights: %w", err)
	}
	return filepath.Join(cache, "nmn", "weights"), nil
}

// Path is where the file lies in a folder once it is downloaded.
func (f File) Path(folder string) string { return filepath.Join(folder, f.Name+path.Ext(f.Address)) }

// Host is the publisher's host.
func (f File) Host() string {
	if u, err := url.Parse(f.Address); err == nil {
		return u.Host
	}
	return f.Address
}

// Megabytes shows the size to people.
func (f File) Megabytes() string { return fmt.Sprintf("%.0f MB", float64(f.Bytes)/1e6) }

// AbsentError says that a published file was named and is not downloaded.
type AbsentError struct{ File File }

func (e *AbsentError) Error() string {
	return fmt.Sprintf("%s is not downloaded yet: `nmn weights get %s` does that (%s)", e.File.Name, e.File.Name,
		e.File.Megabytes())
}

// Find is the path of the weights that a user names: of a file, or of a published file by its name, unless a file of
// that name is there. The error for one that is not downloaded is an *AbsentError. A path of neither comes back as it
// is, so that the error of opening it says what is wrong, unless it looks like a misspelt name.
func Find(name string) (string, error) {
	if durable.Exists(name) || strings.ContainsAny(name, `./\`) {
		return name, nil
	}
	f, err := Named(name)
	if err != nil {
		if near := setting.Near(name, names()); near != "" {
			return "", fmt.Errorf("there is no file %q; did you mean the published weights %s?", name, near)
		}
		return name, nil
	}
	folder, err := Folder()
	if err != nil {
		return "", err
	}
	if at := f.Path(folder); durable.Exists(at) {
		return at, nil
	}
	return "", &AbsentError{f}
}
