//go:build unix

package frames

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeEnv turns the test binary into an ffmpeg that behaves as the variable selects.
const fakeEnv = "NMN_TEST_FFMPEG"

func TestMain(m *testing.M) {
	if mode := os.Getenv(fakeEnv); mode != "" {
		// Not os.Exit, which writes the coverage of a test with -cover: the files that an ffmpeg may write are limited.
		syscall.Exit(fakeFFmpeg(mode, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fake is an ffmpeg that behaves as mode selects.
func fake(t *testing.T, mode string) *FFmpeg {
	t.Helper()
	t.Setenv(fakeEnv, mode)
	return &FFmpeg{Path: os.Args[0]}
}

const fakeVersion = "ffmpeg version 5.1.9-0+deb12u1 Copyright\nlibavutil      57. 28.100 / 57. " +
	"28.100\nlibavformat    59. 27.100 / 59. 27.100\n"

// Properties of the clips that the fake decodes.
const (
	fakeWidth, fakeHeight = 16, 8
	fakePackets           = 10
)

func fakeFFmpeg(mode string, args []string) int {
	if slices.Contains(args, "-version") {
		return fakeAnswer(mode)
	}
	probing := slices.Contains(args, "copy")
	pictures, list := io.Writer(os.Stdout), io.Writer(os.Stdout)
	if !probing {
		list = os.NewFile(3, "list")
	}
	decoded := fakePackets
	switch mode {
	case "awaits its limit":
		awaitLimit()
	case "sleeps":
		time.Sleep(time.Hour)
	case "has a child":
		// The child inherits pipes and keeps them open after the fake itself has ended.
		child := exec.Command("sleep", "3600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return 1
		}
		// An empty file, for it may not write.
		if _, err := os.Create(filepath.Join(os.Getenv("NMN_TEST_PIDS"), strconv.Itoa(child.Process.Pid))); err != nil {
			return 1
		}
		return 0
	case "crashes":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour)
	case "fails":
		fmt.Fprintf(os.Stderr, "[mov,mp4 @ 0x55cb7a25fb80] moov atom not found\n%s: Invalid data found when "+
			"processing input\n", args[slices.Index(args, "-i")+1])
		return 1
	case "talks rubbish":
		fmt.Fprint(list, "Rubbish\x00\xff, of many kinds\n")
		if !probing {
			fmt.Fprint(pictures, strings.Repeat("\x07", 1000))
		}
		return 0
	case "lists without end":
		fakeHeader(list)
		for err := error(nil); err == nil; {
			_, err = fmt.Fprintf(list, "0, 0, 0, 1, 1, 0x0\n")
		}
		return 1
	case "a line without end":
		for err := error(nil); err == nil; {
			_, err = list.Write(bytes.Repeat([]byte("#"), 4096))
		}
		return 1
	case "complains without end":
		for err := error(nil); err == nil; {
			_, err = os.Stderr.WriteString("[h264 @ 0x7f0a] nothing is right\n")
		}
		return 1
	case "counts wrong":
		decoded = fakePackets - 3
	case "counts another way each time":
		decoded = 1 + len(selected(args))%2
		if probing {
			decoded = fakePackets
		}
	case "decodes nothing":
		decoded = 0
	case "has no packets":
		if probing {
			return 0
		}
	}
	if probing {
		fakeList(list, fakePackets)
		return 0
	}
	fakePictures(pictures, mode, args, decoded)
	fakeList(list, decoded)
	if mode == "complains and goes on" {
		fmt.Fprintln(os.Stderr, "[h264 @ 0x7f0a] error while decoding MB 25 18, bytestream 755")
	}
	return 0
}

// awaitLimit waits until the process has its memory limit, on systems with such limits.
var awaitLimit = func() {}

func fakeAnswer(mode string) int {
	switch mode {
	case "is old":
		fmt.Print(strings.NewReplacer("5.1.9-0+deb12u1", "4.4.2", "59. 27", "58. 76").Replace(fakeVersion))
	case "is another program":
		fmt.Println("sleep (GNU coreutils) 9.1")
	case "fails":
		return 1
	case "is from the midst of development":
		fmt.Print(strings.NewReplacer("5.1.9-0+deb12u1", "N-118350-g1234567", "59. 27", "61.  9").Replace(fakeVersion))
	default:
		fmt.Print(fakeVersion)
	}
	return 0
}

func fakeHeader(w io.Writer) {
	fmt.Fprintf(w, "#software: fake\n#tb 0: 1/1000000\n#media_type 0: video\n#dimensions 0: %dx%d\n#sar 0: 0/1\n",
		fakeWidth, fakeHeight)
}

func fakeList(w io.Writer, n int) {
	fakeHeader(w)
	for i := range n {
		fmt.Fprintf(w, "0, %10d, %10d, 40000, 472, 0x1234, S=1, 4, 0x1\n", 40000*i, 40000*i)
	}
}

// selected are the frames that the filter lets through.
func selected(args []string) (all []int) {
	for _, match := range regexp.MustCompile(`eq\(n,(\d+)\)`).FindAllStringSubmatch(strings.Join(args, " "), -1) {
		n, _ := strconv.Atoi(match[1])
		all = append(all, n)
	}
	return all
}

// fakePictures writes frames whose brightness is their number, times ten.
func fakePictures(w io.Writer, mode string, args []string, decoded int) {
	width := fakeWidth
	if mode == "pictures are huge" {
		width = 1 << 14
	}
	fmt.Fprintf(w, "YUV4MPEG2 W%d H%d F25:1 Ip A0:0 C420jpeg XYSCSS=420JPEG\n", width, fakeHeight)
	for _, n := range selected(args) {
		if n >= decoded {
			break
		}
		times := 1
		switch mode {
		case "pictures are cut":
			fmt.Fprint(w, "FRAME\nshort")
			return
		case "pictures without end":
			times = math.MaxInt32
		case "a picture is missing":
			if n == selected(args)[0] {
				continue
			}
		}
		for range times {
			_, err := w.Write(slices.Concat([]byte("FRAME\n"), bytes.Repeat([]byte{byte(10 * n)}, fakeWidth*fakeHeight),
				bytes.Repeat([]byte{128}, fakeWidth*fakeHeight/2)))
			if err != nil {
				return
			}
		}
	}
}
