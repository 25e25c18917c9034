/** A number from 0 to below 1, from 32 random bits. */
export function fractionOf(random: (bytes: number) => Uint8Array): number {
  return Buffer.from(random(4)).readUInt32BE() / 2 ** 32;
}
