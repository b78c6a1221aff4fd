package main

import "testing"

const disassembled = `
		Function : together
        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;     /* 0x00 */
        /*0010*/                   LDG.E.128 R8, desc[UR4][R2.64+0x10] ;     /* 0x00 */
        /*0020*/              @!P0 LDG.E.128.CONSTANT R12, desc[UR4][R2.64+0x20] ;     /* 0x00 */
        /*0030*/                   LDG.E R16, desc[UR4][R2.64+0x30] ;     /* 0x00 */
        /*0040*/                   FADD R4, R4, R11 ;     /* 0x00 */
        /*0050*/                   LDG.E.128 R20, desc[UR4][R2.64] ;     /* 0x00 */
		Function : in_turn
        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;     /* 0x00 */
        /*0010*/                   LDG.E.128 R8, desc[UR4][R6.64] ;     /* 0x00 */
        /*0020*/                   FADD R4, R8, R9 ;     /* 0x00 */
        /*0030*/                   LDG.E.128 R12, desc[UR4][R2.64] ;     /* 0x00 */
		Function : loop
        /*0000*/                   LDG.E.128 R4, desc[UR4][R2.64] ;     /* 0x00 */
        /*0010*/                   LDG.E.128 R8, desc[UR4][R2.64] ;     /* 0x00 */
        /*0020*/               @P0 BRA 0x10 ;     /* 0x00 */
		Function : none
        /*0000*/                   EXIT ;     /* 0x00 */
`

func TestParseLoads(t *testing.T) {
	got := parseLoads([]byte(disassembled))
	for kernel, want := range map[string]int{"together": 3, "in_turn": 1, "loop": 1, "none": 0} {
		if n, known := got[kernel]; !known || n != want {
			t.Errorf("%s: %d loads under way, want %d", kernel, n, want)
		}
	}
	if len(got) != 4 {
		t.Error(got)
	}
}
