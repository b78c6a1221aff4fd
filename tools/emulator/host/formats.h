// Numbers as the libraries of a card take and give them: TF32 and bfloat16.
#pragma once
#include <cstdint>
#include <cstring>

namespace emulator {

// cut leaves 10 bits of mantissa, the worst that TF32 may do.
inline float cut(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  bits &= 0xffffe000;
  memcpy(&v, &bits, sizeof v);
  return v;
}

// narrow rounds to bfloat16, and widen is its inverse.
inline uint16_t narrow(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  if (v != v) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float widen(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float v;
  memcpy(&v, &wide, sizeof v);
  return v;
}

}  // namespace emulator
