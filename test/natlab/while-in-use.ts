import { expect } from 'vitest';
import type { ApiAnswer } from '../kits/http/harness.ts';
import type { LabNode } from '../kits/lab/natlab-node.ts';
import { otherOf, untilAsBefore } from './pair.ts';
import { startProbe } from './probe.ts';

/** Two nodes, one and two, that have a direct path. */
interface DirectPair {
  readonly one: LabNode;
  readonly two: LabNode;
}

/** Calls the API as the administrator. @throws Error on an answer that is no success */
export type Ask = (method: string, route: string, body?: unknown) => Promise<ApiAnswer['body']>;

export const SHUT = { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } };
/** Until something that takes seconds is so, on a machine that does all of it at once. */
export const PATIENCE = { timeout: 30_000, interval: 100 };

/** What happens to others costs the direct path no packet. */
export async function withoutLoss({ one, two }: DirectPair, happens: () => Promise<unknown>): Promise<void> {
  const probe = startProbe(one);
  await probe.answered(10);
  await happens();
  await probe.answered(10);
  expect(await probe.stop()).toEqual([]);
  await untilAsBefore({ one, two, path: 'direct' });
}

/** By whom it asks, what the other one is sent is denied, and then no more. */
export async function shutsAndOpens(one: LabNode, ask: Ask): Promise<void> {
  await ask('POST', '/api/v1/policies', SHUT);
  await expect.poll(() => one.host.reaches(otherOf(one), 1), PATIENCE).toBe(false);
  await ask('DELETE', `/api/v1/policies/${SHUT.name}`);
  await expect.poll(() => one.host.reaches(otherOf(one), 1), PATIENCE).toBe(true);
}
