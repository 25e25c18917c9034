import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { NODE_JWT_MS, nodeJwt } from '../../net/bus/claims.ts';
import { signingKey } from '../../net/bus/nkey.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import type { NodeConfig } from '../enrol/node-config.ts';
import type { BusAccess } from '../enrol/plane-api.ts';
import { PlaneBus } from './plane-bus.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const signer = signingKey('account', randomBytes(32));
const USER = { workspace: 'w_1', peer: 'p_1', key: signingKey('user', randomBytes(32)).publicKey };

/** A node that was given something to sign in with, and an API that gives it more, or is away. */
function nodeWith(busJwt: string | undefined) {
  const pair = generateKeyPair();
  const asked: number[] = [];
  let isAway = false;
  let now = NOW;
  let config: NodeConfig = {
    server: 'https://mesh.example',
    id: 'p_1',
    name: 'a',
    workspaceId: 'w_1',
    controlKey: Buffer.from(generateKeyPair().publicKey).toString('base64'),
    deviceToken: 'mesh-dev-x',
    privateKey: Buffer.from(pair.privateKey).toString('base64'),
    signalingUrl: 'nats://127.0.0.1:4222',
    ...(busJwt !== undefined && { busJwt }),
  };
  const bus = new PlaneBus(
    {
      config: () => config,
      waitMs: 0,
      inClear: false,
      log: silentLog,
      ending: new AbortController().signal,
      async locate(): Promise<BusAccess> {
        asked.push(now - NOW);
        if (isAway) throw new Error('the control plane is away');
        return { signalingUrl: config.signalingUrl, busJwt: nodeJwt(USER, signer.publicKey, signer, now) };
      },
      onAccess: (access) => {
        config = { ...config, ...access } as NodeConfig;
      },
      onUp: () => undefined,
      onDown: () => undefined,
      onPush: () => undefined,
      onSignal: () => undefined,
    },
    pair,
  );
  return {
    asked,
    jwt: () => config.busJwt,
    away(is: boolean) {
      isAway = is;
    },
    async renewAt(at: number) {
      now = at;
      await bus.renew(at);
    },
  };
}

test('what a node signs in with is renewed once its half is over, and not again before half of the next', async () => {
  const first = nodeJwt(USER, signer.publicKey, signer, NOW);
  const node = nodeWith(first);
  const half = NODE_JWT_MS / 2;
  for (const at of [0, 1_000, half - 1_000]) await node.renewAt(NOW + at);
  expect([node.asked, node.jwt()]).toEqual([[], first]);
  await node.renewAt(NOW + half);
  expect(node.asked).toEqual([half]);
  expect(node.jwt()).not.toBe(first);
  for (const at of [half + 1_000, half + MINUTE_MS, 2 * half - 1_000]) await node.renewAt(NOW + at);
  expect(node.asked).toEqual([half]);
  await node.renewAt(NOW + 2 * half);
  expect(node.asked).toEqual([half, 2 * half]);
});

test('while the API is away it is asked again ever sooner before the end, at most once a minute', async () => {
  const node = nodeWith(nodeJwt(USER, signer.publicKey, signer, NOW));
  node.away(true);
  for (let at = 0; at <= NODE_JWT_MS; at += 30_000) await node.renewAt(NOW + at);
  const { asked } = node;
  expect(asked.slice(0, 3)).toEqual([0.5, 0.75, 0.875].map((part) => part * NODE_JWT_MS));
  const pauses = asked.slice(1).map((at, n) => at - (asked[n] ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(MINUTE_MS);
  expect(asked.at(-1)).toBeGreaterThan(NODE_JWT_MS - 3 * MINUTE_MS);
  node.away(false);
  await node.renewAt(NOW + NODE_JWT_MS + 5 * MINUTE_MS);
  expect(node.asked).toHaveLength(asked.length);
  expect(node.jwt()).not.toBe(nodeJwt(USER, signer.publicKey, signer, NOW));
});

test('a node whose bus knows nobody by a key renews nothing', async () => {
  const node = nodeWith(undefined);
  await node.renewAt(NOW + 10 * NODE_JWT_MS);
  expect(node.asked).toEqual([]);
});
