package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// check opens a written wheel and reports faults for pip or the system of its platform: a tag that its name
// lacks, a file that RECORD lacks or records otherwise, or a program for another machine.
func check(name string, p platform) error {
	archive, err := zip.OpenReader(name)
	if err != nil {
		return err
	}
	defer archive.Close()
	files := map[string][]byte{}
	for _, f := range archive.File {
		if _, twice := files[f.Name]; twice {
			return fmt.Errorf("%s is there twice", f.Name)
		}
		if files[f.Name], err = content(f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		isProgram := path.Base(f.Name) == p.program() && strings.Contains(f.Name, ".data/scripts/")
		if executable := f.Mode()&0o111 != 0; executable != isProgram {
			return fmt.Errorf("%s has mode %v", f.Name, f.Mode())
		}
	}
	base := strings.Join(strings.SplitN(filepath.Base(name), "-", 3)[:2], "-")
	if err := checkTags(filepath.Base(name), files[base+".dist-info/WHEEL"]); err != nil {
		return err
	}
	if err := checkRecord(base+".dist-info/RECORD", files); err != nil {
		return err
	}
	program := base + ".data/scripts/" + p.program()
	data, has := files[program]
	if !has {
		return fmt.Errorf("there is no %s", program)
	}
	if err := p.checkProgram(data); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

func content(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// checkTags compares the tags of the file WHEEL with the tags in the name (PEP 425).
func checkTags(name string, wheel []byte) error {
	parts := strings.SplitN(strings.TrimSuffix(name, ".whl"), "-", 5)
	if len(parts) != 5 {
		return fmt.Errorf("%s is no name of a wheel", name)
	}
	var want, got []string
	for _, tag := range strings.Split(parts[4], ".") {
		want = append(want, strings.Join([]string{parts[2], parts[3], tag}, "-"))
	}
	for line := range strings.Lines(string(wheel)) {
		if tag, found := strings.CutPrefix(strings.TrimSpace(line), "Tag: "); found {
			got = append(got, tag)
		}
	}
	if !slices.Equal(want, got) {
		return fmt.Errorf("WHEEL has the tags %v, and the name %v", got, want)
	}
	return nil
}

// checkRecord holds every file against its line of the record, and every line against its file.
func checkRecord(record string, files map[string][]byte) error {
	rows, err := csv.NewReader(bytes.NewReader(files[record])).ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", record, err)
	}
	if len(rows) != len(files) {
		return fmt.Errorf("%s has %d lines for %d files", record, len(rows), len(files))
	}
	for _, row := range rows {
		data, has := files[row[0]]
		sum := sha256.Sum256(data)
		want := []string{"sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), strconv.Itoa(len(data))}
		if row[0] == record {
			want = []string{"", ""}
		}
		if !has || !slices.Equal(row[1:], want) {
			return fmt.Errorf("%s: %v, want %v", record, row, want)
		}
	}
	return nil
}

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
