package picture

import (
	"bytes"
	"image"
	"sync"
	"testing"
)

// Pictures that together are larger than the room are decoded one after the other, and as without it.
func TestRoom_LargePicturesWaitForEachOther(t *testing.T) {
	files := map[string][]byte{"JPEG": encodedJPEG(t, smooth(200, 100)), "PNG": encodePNG(t, smooth(200, 100)),
		"grey": encodePNG(t, image.NewGray(image.Rect(0, 0, 100, 200)))}
	room := NewRoom(200_000, 2) // 100,000 bytes are shared, 50,000 are each worker's: two do not fit
	first := Picture{Room: room}
	if err := Decode(files["JPEG"], &first); err != nil || first.taken != 100_000 {
		t.Fatalf("%d bytes, %v", first.taken, err)
	}
	if room.shared.TryAcquire(1) {
		t.Fatal("the first picture leaves room")
	}
	var all sync.WaitGroup
	for name, data := range files {
		all.Go(func() {
			var want Picture
			got := Picture{Room: room}
			for range 3 {
				if err := Decode(data, &got); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := Decode(data, &want); err != nil || !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%s: %v, or other pixels", name, err)
			}
			got.Release()
			got.Release()
			if got.Pix != nil {
				t.Errorf("%s: a picture that took room keeps its memory", name)
			}
		})
	}
	first.Release()
	all.Wait()
	if !room.shared.TryAcquire(room.most) {
		t.Error("room is not given back")
	}
}

func TestRoom_SmallPicturesKeepTheirMemory(t *testing.T) {
	pic := Picture{Room: NewRoom(1<<20, 2)}
	data := encodedJPEG(t, smooth(20, 10))
	if err := Decode(data, &pic); err != nil || pic.taken != 0 {
		t.Fatalf("%d bytes, %v", pic.taken, err)
	}
	pic.Release()
	if len(pic.Pix) != 3*20*10 {
		t.Errorf("%d bytes are left", len(pic.Pix))
	}
}
