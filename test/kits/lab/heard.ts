import { expect } from 'vitest';
import type { Heard, Target } from './natlab-packets.ts';
import type { LabParts } from './natlab-parts.ts';

/** Answers come within some milliseconds where the machine has no other work. */
const [TIMEOUT_MS, PATIENT_TIMEOUT_MS] = [700, 5_000];

/** What a host hears from each target is as expected; who should answer and is late is asked again. */
export async function expectHeard(
  parts: LabParts,
  targets: readonly Target[],
  expected: readonly Heard[],
): Promise<void> {
  const heard = await parts.probe([...targets], TIMEOUT_MS);
  const late = [...targets.keys()].filter((index) => heard[index] === 'silent' && expected[index] !== 'silent');
  const again = await parts.probe(
    late.flatMap((index) => targets[index] ?? []),
    PATIENT_TIMEOUT_MS,
  );
  for (const [nth, index] of late.entries()) heard[index] = again[nth] ?? 'silent';
  const told = (all: readonly Heard[]) =>
    targets.map(({ protocol, address, port }, index) => `${protocol} ${address} ${port}: ${all[index]}`);
  expect(told(heard)).toEqual(told(expected));
}
