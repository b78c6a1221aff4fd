package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// header is the header of a platform's program, with nothing after it.
func header(t *testing.T, p platform) []byte {
	t.Helper()
	var b bytes.Buffer
	write := func(parts ...any) {
		for _, part := range parts {
			succeeds(t, binary.Write(&b, binary.LittleEndian, part))
		}
	}
	switch p.name {
	case "linux-amd64", "linux-arm64":
		h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64, Phoff: 64,
			Phentsize: 56, Phnum: 1}
		if p.arch == "arm64" {
			h.Machine = uint16(elf.EM_AARCH64)
		}
		copy(h.Ident[:], "\x7fELF\x02\x01\x01")
		write(h, elf.Prog64{Type: uint32(elf.PT_LOAD)})
	case "darwin-amd64", "darwin-arm64":
		cpu := macho.CpuAmd64
		if p.arch == "arm64" {
			cpu = macho.CpuArm64
		}
		write(macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, Type: macho.TypeExec, Ncmd: 1, Cmdsz: 24}, uint32(0))
		write([]uint32{0x32, 24, 1, 12 << 16, 12 << 16, 0})
	case "windows-amd64", "windows-arm64":
		machine := uint16(pe.IMAGE_FILE_MACHINE_AMD64)
		if p.arch == "arm64" {
			machine = pe.IMAGE_FILE_MACHINE_ARM64
		}
		dos := make([]byte, 96)
		copy(dos, "MZ")
		dos[0x3c] = byte(len(dos))
		write(dos, []byte("PE\x00\x00"), pe.FileHeader{Machine: machine, SizeOfOptionalHeader: 240,
			Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE})
		write(pe.OptionalHeader64{Magic: 0x20b, Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, NumberOfRvaAndSizes: 16})
	default:
		t.Fatalf("%s has no test data", p.name)
	}
	return b.Bytes()
}

// packed is a wheel of a platform around a program.
func packed(t *testing.T, p platform, program []byte) string {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, p.program())
	succeeds(t, os.WriteFile(file, program, 0o755))
	of := source{version: "1.2.3+g0123abc", time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	name := filepath.Join(folder, p.fileName(of.version))
	_, err := writeWheel(name, []entry{{name: "nmn/__init__.py", text: "x = 1\n"},
		{name: distribution + "-" + of.version + ".data/scripts/" + p.program(), file: file, executable: true},
		{name: distribution + "-" + of.version + ".dist-info/WHEEL", text: p.wheelFile()}}, of)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestCheck_TakesTheWheelOfItsPlatformAlone(t *testing.T) {
	for _, p := range platforms {
		for _, of := range platforms {
			err := check(packed(t, p, header(t, of)), p)
			if (err == nil) != (p.name == of.name) {
				t.Errorf("a program of %s in the wheel of %s: %v", of.name, p.name, err)
			}
		}
		if err := check(packed(t, p, []byte("no program")), p); err == nil {
			t.Errorf("%s: what is no program is taken", p.name)
		}
	}
}

func TestCheck_WantsProgramsThatTheTagsPromise(t *testing.T) {
	linux := header(t, platforms[0])
	binary.LittleEndian.PutUint32(linux[64:], uint32(elf.PT_INTERP))
	err := check(packed(t, platforms[0], linux), platforms[0])
	if err == nil || !strings.Contains(err.Error(), "C library") {
		t.Errorf("a program that asks for a C library: %v", err)
	}
	mac := header(t, platforms[2])
	binary.LittleEndian.PutUint32(mac[32+12:], 13<<16)
	err = check(packed(t, platforms[2], mac), platforms[2])
	if err == nil || !strings.Contains(err.Error(), "macOS 13.0") {
		t.Errorf("a program that asks for a later macOS: %v", err)
	}
}

// Every byte of a wheel is covered by its record.
func TestCheck_FindsWhatWasChanged(t *testing.T) {
	p := platforms[0]
	good := packed(t, p, header(t, p))
	for says, change := range map[string]func(name, text string) (string, string){
		"RECORD: [nmn/__init__.py": func(name, text string) (string, string) {
			return name, strings.Replace(text, "x = 1", "x = 2", 1)
		},
		"lines for": func(name, text string) (string, string) {
			return name, strings.TrimSuffix(text, "nmn_noisy_labels-1.2.3+g0123abc.dist-info/RECORD,,\n")
		},
		"RECORD: [nmn/__init__.py,": func(name, text string) (string, string) {
			return strings.Replace(name, "__init__", "other", 1), text
		},
		"WHEEL has the tags": func(name, text string) (string, string) {
			return name, strings.Replace(text, "musllinux_1_2", "musllinux_1_1", 1)
		},
		"mode": nil,
	} {
		err := check(rewritten(t, good, change), p)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(says, ",")) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if err := check(good, p); err != nil {
		t.Error(err)
	}
}

// rewritten is a copy of a wheel in which change edits each file. With nil no file may be run.
func rewritten(t *testing.T, wheel string, change func(name, text string) (string, string)) string {
	t.Helper()
	old, err := zip.OpenReader(wheel)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range old.File {
		data, err := content(f)
		if err != nil {
			t.Fatal(err)
		}
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate}
		if h.SetMode(f.Mode()); change == nil {
			h.SetMode(0o644)
		} else {
			var text string
			h.Name, text = change(f.Name, string(data))
			data = []byte(text)
		}
		to, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		to.Write(data)
	}
	succeeds(t, w.Close())
	name := filepath.Join(t.TempDir(), filepath.Base(wheel))
	succeeds(t, os.WriteFile(name, b.Bytes(), 0o644))
	return name
}
