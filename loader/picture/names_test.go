package picture

import "testing"

func TestIsName_TakesAnyCaseAndNothingElse(t *testing.T) {
	for name, want := range map[string]bool{
		"a.jpg": true, "b/c.JPEG": true, "d.WebP": true, "e.tiff": true, "f.tar.bmp": true,
		"": false, "jpg": false, "a.jpg.txt": false, "a.heic": false, "a.jpg/b": false,
	} {
		if IsName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}
