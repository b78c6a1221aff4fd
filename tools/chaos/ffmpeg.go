//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// If there is no ffmpeg, this program replaces it, under its name: it reads clips of the one form that the
// workshop makes, and supports nmn's uses of ffmpeg.
const (
	clipWidth, clipHeight = 96, 64
	clipFrame             = clipWidth * clipHeight * 3 / 2 // bytes
	clipHeader            = "YUV4MPEG2 W96 H64 F10:1 Ip A1:1 C420jpeg\n"
)

// makeClips writes clips of noise, which hardly shrink.
func makeClips(folder string, clips int) error {
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	for i := range clips {
		random := rand.New(rand.NewPCG(uint64(i), 0))
		b := []byte(clipHeader)
		for range 4 + i%3 {
			b = append(b, "FRAME\n"...)
			for range clipFrame {
				b = append(b, byte(random.Uint32()))
			}
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%02d.y4m", i)), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// placeFFmpeg puts the system's ffmpeg, or this program in place of it, at path.
func placeFFmpeg(path string) error {
	program, err := exec.LookPath("ffmpeg")
	if err != nil {
		if program, err = os.Executable(); err != nil {
			return err
		}
	}
	return os.Symlink(program, path)
}

// standIn is this program's work under the name of ffmpeg.
func standIn(args []string) error {
	if slices.Contains(args, "-version") {
		_, err := fmt.Print("ffmpeg version 5.1.9 Copyright\nlibavformat    59. 27.100 / 59. 27.100\n")
		return err
	}
	input := slices.Index(args, "-i") + 1
	if input == 0 || input == len(args) {
		return fmt.Errorf("no input in %q", args)
	}
	b, err := os.ReadFile(strings.TrimPrefix(args[input], "file:"))
	if err != nil {
		return err
	}
	frames := (len(b) - len(clipHeader)) / (clipFrame + len("FRAME\n"))
	if slices.Contains(args, "copy") {
		return list(os.Stdout, frames)
	}
	frame := func(n int) []byte {
		return b[len(clipHeader)+n*(clipFrame+len("FRAME\n")):][:clipFrame+len("FRAME\n")]
	}
	pictures := bytes.NewBufferString(clipHeader)
	for _, match := range regexp.MustCompile(`eq\(n,(\d+)\)`).FindAllStringSubmatch(strings.Join(args, " "), -1) {
		if n, err := strconv.Atoi(match[1]); err == nil && n < frames {
			pictures.Write(frame(n))
		}
	}
	if _, err := pictures.WriteTo(os.Stdout); err != nil {
		return err
	}
	return list(os.NewFile(3, "list"), frames)
}

// list writes the frames in the form of ffmpeg's muxer framecrc.
func list(w io.Writer, frames int) error {
	_, err := fmt.Fprintf(w, "#software: chaos\n#tb 0: 1/1000000\n#media_type 0: video\n#dimensions 0: %dx%d\n#sar 0: "+
		"0/1\n",
		clipWidth, clipHeight)
	for i := 0; i < frames && err == nil; i++ {
		_, err = fmt.Fprintf(w, "0, %10d, %10d, 100000, %d, 0x1234, S=1, 4, 0x1\n", 100000*i, 100000*i, clipFrame)
	}
	return err
}
