package main

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// loadsArchitecture is the one whose machine code is read for loads: disassembling all takes too long.
const loadsArchitecture = "90"

var (
	functionLine    = regexp.MustCompile(`^\s+Function : (\w+)`)
	instructionLine = regexp.MustCompile(`^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?(\S+)\s*([^;]*);`)
	jumpTarget      = regexp.MustCompile(`^0x([0-9a-f]+)$`)
	register        = regexp.MustCompile(`\bR(\d+)(\.64)?`)
	addressColumn   = regexp.MustCompile(`^\s+/\*([0-9a-f]{4,})\*/`)
)

// readLoads returns, for each kernel, the maximum number of 16-byte loads that a thread has under way before
// it uses the first, within a run of instructions without branches. These loads hide the latency of memory.
func readLoads(fatbin string) (map[string]int, error) {
	sass, err := cuobjdump("--dump-sass", "--gpu-architecture", "sm_"+loadsArchitecture, fatbin)
	if err != nil {
		return nil, err
	}
	return parseLoads(sass), nil
}

func parseLoads(sass []byte) map[string]int {
	most := map[string]int{}
	var kernel string
	var body [][]byte
	end := func() {
		if kernel != "" {
			most[kernel] = wideLoads(body)
		}
		body = body[:0]
	}
	for line := range bytes.Lines(sass) {
		if m := functionLine.FindSubmatch(line); m != nil {
			end()
			kernel = string(m[1])
		} else if instructionLine.Match(line) {
			body = append(body, line)
		}
	}
	end()
	return most
}

// wideLoads is parseLoads for the instructions of one kernel.
func wideLoads(body [][]byte) int {
	targets := map[string]bool{} // of jumps: other loads may be under way there
	for _, line := range body {
		m := instructionLine.FindSubmatch(line)
		for _, operand := range strings.Fields(strings.ReplaceAll(string(m[2]), ",", " ")) {
			if t := jumpTarget.FindStringSubmatch(operand); t != nil && bytes.HasPrefix(m[1], []byte("B")) {
				targets[strings.TrimLeft(t[1], "0")] = true
			}
		}
	}
	var flying []int // first registers of loads that nothing has used yet
	most := 0
	for _, line := range body {
		if at := addressColumn.FindSubmatch(line); targets[strings.TrimLeft(string(at[1]), "0")] {
			flying = flying[:0]
		}
		m := instructionLine.FindSubmatch(line)
		used := registers(m[2])
		flying = slices.DeleteFunc(flying, func(first int) bool {
			return slices.ContainsFunc(used, func(r int) bool { return r >= first && r < first+4 })
		})
		if opcode := string(m[1]); strings.HasPrefix(opcode, "LDG.E") && strings.Contains(opcode, ".128") && len(used) > 0 {
			flying = append(flying, used[0])
			most = max(most, len(flying))
		}
	}
	return most
}

// registers are the registers in the operands, in order.
func registers(operands []byte) []int {
	var list []int
	for _, m := range register.FindAllSubmatch(operands, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		list = append(list, n)
		if len(m[2]) > 0 {
			list = append(list, n+1)
		}
	}
	return list
}
