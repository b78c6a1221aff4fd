package pretrained

import (
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/setting"
)

func TestFind(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("LocalAppData", cache)
	t.Chdir(t.TempDir())
	absent := (*AbsentError)(nil)
	if _, err := Find("dinov2-small"); !errors.As(err, &absent) || absent.File.Name != "dinov2-small" {
		t.Errorf("error %v", err)
	}
	folder, err := Folder()
	expect.OK(t, err)
	f, err := Named("dinov2-small")
	expect.OK(t, err)
	expect.OK(t, os.MkdirAll(folder, 0o777))
	expect.OK(t, os.WriteFile(f.Path(folder), []byte("weights"), 0o666))
	if path, err := Find("dinov2-small"); err != nil || path != f.Path(folder) {
		t.Errorf("path %q, error %v", path, err)
	}
	if _, err := Find("dinov2-smal"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("error %v", err)
	}
	for _, other := range []string{"mine.pth", "nets/vgg16", "weights"} {
		if path, err := Find(other); err != nil || path != other {
			t.Errorf("%s is %q, error %v", other, path, err)
		}
	}
	expect.OK(t, os.WriteFile("vgg16", []byte("weights"), 0o666))
	if path, err := Find("vgg16"); err != nil || path != "vgg16" {
		t.Errorf("a file of the user's is %q, error %v", path, err)
	}
}

func TestNamed_RefusesWhatIsNotThere(t *testing.T) {
	mistake := (*setting.Error)(nil)
	if _, err := Named("alexnet"); !errors.As(err, &mistake) || !strings.Contains(err.Error(), "dinov2-small") {
		t.Errorf("error %v", err)
	}
}

// The publishers of PyTorch put the first digits of the digest into the name.
func TestFiles_AreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Files() {
		if len(f.SHA256) != 64 || f.Bytes < 1e7 || f.Licence == "" || f.Use == "" || seen[f.Name] {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		u, err := url.Parse(f.Address)
		if err != nil || u.Scheme != "https" || f.Host() != u.Host {
			t.Errorf("%s: address %s", f.Name, f.Address)
		}
		if u.Host == "download.pytorch.org" && !strings.Contains(f.Address, "-"+f.SHA256[:8]+".pth") {
			t.Errorf("%s: the address has other digits than %s", f.Name, f.SHA256)
		}
	}
}
