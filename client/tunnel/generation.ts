import { runProgram } from '../run-program.ts';

/**
 * How a wireguard-go hands on packets: up to 0.0.20220316 one by one; since 2023 in batches, of which it coalesces the segments of
 * a TCP stream itself. Those of batches send packets for IPv6 endpoints to other addresses once they have sent to an IPv4
 * endpoint (docs/decisions/0017-one-family.md).
 */
export type Generation = 'one-by-one' | 'batches';

/** The first version that may do batches: Debian's 0.0.20231211 calls itself so too. */
const FIRST_OF_BATCHES = 20_230_223;

/** @param version the answer of `wireguard-go --version`; an unknown one counts as new */
export function generationOf(version: string): Generation {
  const [, date] = /^wireguard-go v0\.0\.(\d{8})\b/.exec(version) ?? [];
  return date !== undefined && Number(date) < FIRST_OF_BATCHES ? 'one-by-one' : 'batches';
}

export async function askGeneration(): Promise<Generation> {
  return generationOf((await runProgram('wireguard-go', ['--version'])).stdout);
}
