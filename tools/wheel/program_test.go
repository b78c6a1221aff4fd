package main

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// header is the header of a platform's program, with nothing after it.
func header(t *testing.T, p platform) []byte {
	t.Helper()
	var b bytes.Buffer
	write := func(parts ...any) {
		for _, part := range parts {
			expect.OK(t, binary.Write(&b, binary.LittleEndian, part))
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

func TestCheckProgram_TakesThoseOfItsPlatformAlone(t *testing.T) {
	for _, p := range platforms {
		for _, of := range platforms {
			err := p.checkProgram(header(t, of))
			if (err == nil) != (p.name == of.name) {
				t.Errorf("a program of %s in the wheel of %s: %v", of.name, p.name, err)
			}
		}
		if err := p.checkProgram([]byte("no program")); err == nil {
			t.Errorf("%s: what is no program is taken", p.name)
		}
	}
}

func TestCheckProgram_WantsWhatTheTagsPromise(t *testing.T) {
	linux := header(t, platforms[0])
	binary.LittleEndian.PutUint32(linux[64:], uint32(elf.PT_INTERP))
	err := platforms[0].checkProgram(linux)
	if err == nil || !strings.Contains(err.Error(), "C library") {
		t.Errorf("a program that asks for a C library: %v", err)
	}
	mac := header(t, platforms[2])
	binary.LittleEndian.PutUint32(mac[32+12:], 13<<16)
	err = platforms[2].checkProgram(mac)
	if err == nil || !strings.Contains(err.Error(), "macOS 13.0") {
		t.Errorf("a program that asks for a later macOS: %v", err)
	}
}
