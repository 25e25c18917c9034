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

/** Joined a moment ago, they come to have a direct path, and nothing troubles them. */
export async function comeToBeDirect({ one, two }: DirectPair): Promise<void> {
  await untilAsBefore({ one, two, path: 'direct' });
  // The other end may still be setting up what this one has.
  const ping = () => one.must(['ping', 'two', '--count', '1']).catch(String);
  await expect.poll(ping).toMatch(/^two \(10\.96\.0\.2\) [\d.]+ ms direct via /);
  for (const node of [one, two]) {
    const control = async () => (await node.status()).control;
    await expect.poll(control).toMatchObject({ standing: 'ready', trouble: '' });
  }
}

/** Each leaves the other by itself, and when the one no longer reaches the other it may be because that one has left. */
export async function partForGood({ one, two }: DirectPair): Promise<void> {
  await expect.poll(() => one.host.reaches(otherOf(one), 1), PATIENCE).toBe(false);
  await expect.poll(() => two.host.hasInterface(two.interfaceName), PATIENCE).toBe(false);
  await expect.poll(async () => (await one.status()).peers, PATIENCE).toEqual([]);
}

/** What happens to others costs the direct path no packet. */
export async function withoutLoss({ one, two }: DirectPair, happens: () => Promise<unknown>): Promise<void> {
  const probe = startProbe(one);
  try {
    await probe.answered(10);
    await happens();
    await probe.answered(10);
  } catch (error) {
    throw new Error([error, await one.account(), await two.account()].join('\n'), { cause: error });
  }
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
