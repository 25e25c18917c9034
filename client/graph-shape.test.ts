import { expect, test } from 'vitest';
import { mintCredential, relayKeysOf, workspaceTagOf } from '../net/relay/credential.ts';
import { parseFullGraph } from './graph-shape.ts';

const expiresAt = '2026-01-06T12:00:00.000Z';
const credential = mintCredential(relayKeysOf('a shared relay token'), {
  workspace: workspaceTagOf('w_1'),
  publicKey: new Uint8Array(32).fill(1),
  expiresAt: Date.parse(expiresAt),
});
const rules = { in: [], out: [] };
const relayIn = (relay: object) =>
  parseFullGraph(
    JSON.stringify({
      kind: 'full',
      epoch: 'e',
      version: 1,
      reason: '',
      self: { id: 'p_1', name: 'a', address: '10.96.0.1', cidr: '10.96.0.0/24', phase: 'ready' },
      peers: [],
      firewall: { digest: '0'.repeat(64), full: rules },
      relay,
      stun: [],
      checkpoint: null,
    }),
  )?.relay;

test('the credential of the relay stands beside its address or in it', () => {
  const beside = { url: 'relay.example:6266', credential, expiresAt };
  expect(relayIn(beside)).toEqual(beside);
  const within = { url: `lrp://${credential}@relay.example:6266`, expiresAt };
  expect(relayIn(within)).toEqual({ ...within, credential });
});

test('a relay without a credential is no relay', () => {
  expect(relayIn({ url: 'relay.example:6266', expiresAt })).toBeUndefined();
});
