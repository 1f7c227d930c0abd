#!/usr/bin/env python3
"""Writes src/core/numbers/pow10_table.h: the leading 128 bits of 10^k, rounded down, in exact integer arithmetic.

python3 tools/generate/make_pow10_table.py > src/core/numbers/pow10_table.h
"""

LOW, HIGH = -348, 324


def leading_bits(k):
    """floor(10^k * 2^s) for the s that makes it 128 bits long."""
    if k >= 0:
        x = 10**k
        shift = 128 - x.bit_length()
        return x << shift if shift >= 0 else x >> -shift
    x = 10**-k
    q = (1 << (x.bit_length() + 128)) // x
    return q >> (q.bit_length() - 128)


print("""/* Made by tools/generate/make_pow10_table.py: the leading 128 bits of 10^k, rounded down, high half first. Exact for 0 <= k
 * <= 55. */
#ifndef DIS_CORE_POW10_TABLE_H
#define DIS_CORE_POW10_TABLE_H
#include <stdint.h>
""")
print(f"enum {{ POW10_LOW = {LOW}, POW10_HIGH = {HIGH} }};\n")
print("/* clang-format off */")
print("static const uint64_t pow10_table[POW10_HIGH - POW10_LOW + 1][2] = {")
for k in range(LOW, HIGH + 1):
    bits = leading_bits(k)
    print(f"    {{0x{bits >> 64:016x}, 0x{bits & (1 << 64) - 1:016x}}}, /* {k} */")
print("};\n/* clang-format on */\n\n#endif")
