package loader

import (
	"errors"
	"reflect"
	"testing"

	"nmn/internal/expect"
)

// ragged is a stream of clips of different numbers of frames; bag 0 has no caption.
func ragged(t testing.TB) *Set { return streamSet(t, 1, 3, 2, 1, 4, 1, 2, 5) }

func mustHold(t testing.TB, s *Set) *Set {
	t.Helper()
	held, err := Hold(t.Context(), s)
	expect.OK(t, err)
	if held.Rows != nil || held.Labels == nil || len(held.IDs) != s.Len() {
		t.Fatalf("the labels are not in memory: %+v", held)
	}
	return held
}

func mustCensus(t testing.TB, s *Set) *Census {
	t.Helper()
	census, err := s.Census(t.Context())
	expect.OK(t, err)
	return census
}

// sameSets compares a set with rows to one in memory: their metadata, and two epochs.
func sameSets(t *testing.T, streamed, held *Set) {
	t.Helper()
	if got, want := mustCensus(t, streamed), mustCensus(t, held); !reflect.DeepEqual(got, want) {
		t.Errorf("census %+v, in memory %+v", got, want)
	}
	config := streamConfig()
	for epoch := range 2 {
		got, want := mustReadEpoch(t, mustLoader(t, streamed, config), epoch, 0),
			mustReadEpoch(t, mustLoader(t, held, config), epoch, 0)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("epoch %d: batches %+v\nin memory %+v", epoch, got, want)
		}
	}
}

func TestHold_SameEpochsAndCensus(t *testing.T) {
	set := ragged(t)
	held := mustHold(t, set)
	sameSets(t, set, held)
	census := mustCensus(t, set)
	if census.Bags != 8 || census.Frames != 19 || census.Longest != 5 ||
		!reflect.DeepEqual(census.Positive, []int{4, 4, 4}) || census.Labels() != 12 {
		t.Errorf("census %+v", census)
	}
	if twice, err := Hold(t.Context(), held); err != nil || twice != held {
		t.Errorf("a set in memory is held anew: %v", err)
	}
}

func TestCensus_DigestTellsSetsApart(t *testing.T) {
	digests := map[[32]byte]string{}
	for name, change := range map[string]func(s *Set){
		"as it is": func(*Set) {},
		"label":    func(s *Set) { s.Labels.Uint8s()[3] ^= 1 },
		"name":     func(s *Set) { s.IDs[2] += "x" },
		"order":    func(s *Set) { s.IDs[1], s.IDs[2] = s.IDs[2], s.IDs[1] },
		"words":    func(s *Set) { s.Vocabulary = vocabularyOf(t, "red", "dog", "bird") },
	} {
		held := mustHold(t, ragged(t))
		change(held)
		digest := mustCensus(t, held).Digest
		if other, ok := digests[digest]; ok {
			t.Errorf("%s: the digest is that of %s", name, other)
		}
		digests[digest] = name
	}
}

func TestFrames_OfAStreamAreThoseInMemory(t *testing.T) {
	set := ragged(t)
	held := mustHold(t, set)
	streamed, index, err := Frames(t.Context(), set)
	expect.OK(t, err)
	inMemory, _, err := Frames(t.Context(), held)
	expect.OK(t, err)
	if index.Frames() != 19 || streamed.Len() != 19 {
		t.Errorf("%d frames, want 19", index.Frames())
	}
	sameSets(t, streamed, inMemory)
}

func TestHold_CountsWithoutCaptions(t *testing.T) {
	labels := writeLabels(t, ClipLabelsForm{CaptionsPerSample: 5},
		ClipLabel{Clip: "in/video0.mp4", Counts: map[string]int{"dog": 2}}, ClipLabel{Clip: "in/video1.mp4"})
	set, err := StreamClips("counts", mustOpenClips(t, writeClips(t, 1, 1)), mustOpenLabels(t, labels),
		vocabularyOf(t, "dog"))
	expect.OK(t, err)
	held := mustHold(t, set)
	if held.Captions != nil || held.Counts.Uint8s()[0] != 2 {
		t.Errorf("captions %v, counts %v", held.Captions, held.Counts)
	}
}

func TestClipLabels_TruthIsHeld(t *testing.T) {
	labels := writeLabels(t, ClipLabelsForm{Truth: true}, ClipLabel{Clip: "in/video0.mp4", Labels: []string{"dog"}},
		ClipLabel{Clip: "in/video1.mp4", Truth: []string{"cat"}})
	set, err := StreamClips("truth", mustOpenClips(t, writeClips(t, 1, 2)), mustOpenLabels(t, labels),
		vocabularyOf(t, "dog", "cat"))
	expect.OK(t, err)
	held := mustHold(t, set)
	if !reflect.DeepEqual(held.Truth.Uint8s(), []uint8{0, 0, 0, 1}) ||
		!reflect.DeepEqual(held.Labels.Uint8s(), []uint8{1, 0, 0, 0}) || held.Counts != nil {
		t.Errorf("truth %v, labels %v", held.Truth, held.Labels)
	}
}

func TestEachRow_StopsAtTheFirstErrorOfAVisit(t *testing.T) {
	stop, seen := errors.New("stop"), 0
	err := ragged(t).EachRow(t.Context(), func(int, *Row) error {
		if seen++; seen == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || seen != 3 {
		t.Errorf("%d rows seen, error %v", seen, err)
	}
}
