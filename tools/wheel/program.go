package main

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"strings"
)

// checkProgram reports an error unless a program fits the platform and needs nothing but its system.
func (p platform) checkProgram(data []byte) error {
	switch p.system {
	case "linux":
		return p.checkELF(data)
	case "darwin":
		return p.checkMachO(data)
	case "windows":
		return p.checkPE(data)
	}
	return fmt.Errorf("programs of %s are not supported", p.system)
}

// checkELF requires a program that needs no library, so that it runs with glibc and with musl.
func (p platform) checkELF(data []byte) error {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[p.arch]
	if f.Machine != want || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return fmt.Errorf("%v of %v, want a program of %v", f.Type, f.Machine, want)
	}
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP {
			return errors.New("is linked with a C library, which not every Linux has")
		}
	}
	return nil
}

// checkMachO requires a program that the oldest macOS of the tags starts.
func (p platform) checkMachO(data []byte) error {
	f, err := macho.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	want := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[p.arch]
	if f.Cpu != want || f.Type != macho.TypeExec {
		return fmt.Errorf("%v of %v, want a program of %v", f.Type, f.Cpu, want)
	}
	for _, load := range f.Loads {
		raw := load.Raw()
		const buildVersion = 0x32 // LC_BUILD_VERSION: command, size, platform, least version of the system
		if len(raw) < 16 || f.ByteOrder.Uint32(raw) != buildVersion {
			continue
		}
		least := f.ByteOrder.Uint32(raw[12:])
		major, minor := least>>16, least>>8&0xff
		if tag := fmt.Sprintf("macosx_%d_%d_", major, minor); !strings.HasPrefix(p.tags[0], tag) {
			return fmt.Errorf("asks for macOS %d.%d, and the tag is %s", major, minor, p.tags[0])
		}
		return nil
	}
	return errors.New("does not declare which macOS it needs")
}

func (p platform) checkPE(data []byte) error {
	f, err := pe.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	want := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}[p.arch]
	if f.Machine != want || f.Characteristics&pe.IMAGE_FILE_EXECUTABLE_IMAGE == 0 {
		return fmt.Errorf("machine %#x, want %#x, a program", f.Machine, want)
	}
	header, has := f.OptionalHeader.(*pe.OptionalHeader64)
	if !has || header.Subsystem != pe.IMAGE_SUBSYSTEM_WINDOWS_CUI {
		return errors.New("is no program of the console")
	}
	return nil
}
