/** A set of small numbers, 32 to a word. All sets that are combined have the same length. */
export type Bits = Uint32Array;

export function emptyBits(size: number): Bits {
  return new Uint32Array((size + 31) >>> 5);
}

export function setBit(bits: Bits, index: number): void {
  const word = index >>> 5;
  bits[word] = (bits[word] ?? 0) | (1 << (index & 31));
}

export function hasBit(bits: Bits, index: number): boolean {
  return (((bits[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
}

export function orInto(target: Bits, source: Bits): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] ?? 0) | (source[i] ?? 0);
}

export function andInto(target: Bits, source: Bits): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] ?? 0) & (source[i] ?? 0);
}

export function andNotInto(target: Bits, source: Bits): void {
  for (let i = 0; i < target.length; i++) target[i] = (target[i] ?? 0) & ~(source[i] ?? 0);
}

/** Calls `visit` with each member in rising order. */
export function eachBit(bits: Bits, visit: (index: number) => void): void {
  for (let word = 0; word < bits.length; word++) {
    let rest = bits[word] ?? 0;
    while (rest !== 0) {
      const lowest = 31 - Math.clz32(rest & -rest);
      visit(word * 32 + lowest);
      rest &= rest - 1;
    }
  }
}

export function isEmpty(bits: Bits): boolean {
  return bits.every((word) => word === 0);
}
