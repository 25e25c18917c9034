import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DeltaGraph, encodeGraphMessage, type FullGraph, type GraphMessage } from '../core/model/graph.ts';
import { mintCredential, relayKeysOf, workspaceTagOf } from '../net/relay/credential.ts';
import { decodeGraphMessage, parseFullGraph } from './graph-shape.ts';

const expiresAt = '2026-01-06T12:00:00.000Z';
const credential = mintCredential(relayKeysOf('a shared relay token'), {
  workspace: workspaceTagOf('w_1'),
  publicKey: new Uint8Array(32).fill(1),
  expiresAt: Date.parse(expiresAt),
});
const rules = { in: [], out: [] };
const graphWith = (relay: object | null, former?: object) =>
  parseFullGraph(
    JSON.stringify({
      kind: 'full',
      epoch: 'e',
      version: 1,
      reason: '',
      self: {
        id: 'p_1',
        name: 'a',
        address: '10.96.0.1',
        cidr: '10.96.0.0/24',
        phase: 'ready',
        ...(former && { former }),
      },
      peers: [],
      firewall: { digest: '0'.repeat(64), full: rules },
      relay,
      stun: [],
      checkpoint: null,
    }),
  );
const relayIn = (relay: object) => graphWith(relay)?.relay;

test.each([
  [{ address: '10.97.0.1', cidr: '10.97.0.0/24' }, true],
  [{ address: '10.97.0.0', cidr: '10.97.0.0/24' }, false],
  [{ address: '10.98.0.1', cidr: '10.97.0.0/24' }, false],
  [{ address: '10.96.1.1', cidr: '10.96.0.0/16' }, false],
  [{ address: 'fd00::1', cidr: 'fd00::/64' }, false],
])('a node takes an address before a renumbering only of a block apart: %j %s', (former, isTaken) => {
  expect(graphWith(null, former) !== undefined).toBe(isTaken);
});

test('the credential of the relay stands beside its address or in it', () => {
  const beside = { url: 'relay.example:6266', credential, expiresAt };
  expect(relayIn(beside)).toEqual(beside);
  const within = { url: `lrp://${credential}@relay.example:6266`, expiresAt };
  expect(relayIn(within)).toEqual({ ...within, credential });
});

test('a relay without a credential is no relay', () => {
  expect(relayIn({ url: 'relay.example:6266', expiresAt })).toBeUndefined();
});

describe('messages of the graph', () => {
  test('every message comes back from its bytes', () => {
    fc.assert(
      fc.property(anyGraphMessage(), (message) => {
        expect(decodeGraphMessage(encodeGraphMessage(message))).toEqual(message);
      }),
    );
  });

  test('any bytes are a message or nothing', () => {
    const text = fc.oneof(fc.json(), fc.constantFrom('', '{}', '[]', 'null', '{"kind":"toString"}', '{"kind":"full"}'));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 100 }),
      text.map((json) => Uint8Array.from(Buffer.from(json))),
      fc.tuple(anyGraphMessage(), fc.nat(), fc.nat(255)).map(([message, at, value]) => {
        const changed = Uint8Array.from(encodeGraphMessage(message));
        changed[at % changed.length] = value;
        return changed;
      }),
    );
    fc.assert(
      fc.property(bytes, (input) => {
        const message = decodeGraphMessage(input);
        if (message !== undefined) expect(decodeGraphMessage(encodeGraphMessage(message))).toEqual(message);
      }),
    );
  });

  test('an address that no host of the network can have is refused', () => {
    const self = { id: 'p_1', name: 'a', address: '10.97.0.1', cidr: '10.96.0.0/24', phase: 'ready' } as const;
    const message = { ...fc.sample(anyFullGraph(), 1)[0], self } as FullGraph;
    expect(decodeGraphMessage(encodeGraphMessage(message))).toBeUndefined();
  });
});

function anyGraphMessage(): fc.Arbitrary<GraphMessage> {
  const { version, epoch, reason } = anyHead();
  return fc.oneof(
    anyFullGraph(),
    anyDeltaGraph(),
    fc.record({ kind: fc.constant('fetch' as const), version, epoch, reason }),
    fc.constant({ kind: 'gone' as const }),
  );
}

function anyHead() {
  return {
    epoch: fc.string({ maxLength: 20 }),
    version: fc.nat(),
    reason: fc.string({ maxLength: 40 }),
    self: fc.record(
      {
        id: fc.constant('p_1'),
        name: fc.constant('a'),
        address: fc.integer({ min: 1, max: 254 }).map((n) => `10.96.0.${n}`),
        cidr: fc.constant('10.96.0.0/24'),
        phase: fc.constant('ready' as const),
        expiresAt: fc.constant(expiresAt),
      },
      { requiredKeys: ['id', 'name', 'address', 'cidr', 'phase'] },
    ),
    relay: fc.option(fc.constant({ url: 'relay.example:6266', credential, expiresAt })),
    stun: fc.array(fc.constant('stun.example:3478'), { maxLength: 2 }),
    checkpoint: fc.option(fc.string({ maxLength: 40 })),
  };
}

function anyPeers() {
  const peer = fc.integer({ min: 1, max: 200 }).map((n) => ({
    id: `p_${n}`,
    name: `peer-${n}`,
    publicKey: Buffer.alloc(32, n % 128 || 1).toString('base64'),
    address: `10.96.0.${n}`,
    allowedIps: [`10.96.0.${n}/32`],
    ...(n % 2 === 0 && { expiresAt }),
  }));
  return fc.array(peer, { maxLength: 4 });
}

function anyRules() {
  const entry = fc.oneof(
    fc.record({ cidr: fc.constant('10.96.0.2/32'), protocol: fc.constantFrom('ALL' as const, 'ICMP' as const) }),
    fc.tuple(fc.nat(65_535), fc.nat(65_535)).map(([a, b]) => ({
      cidr: '10.96.0.3/32',
      protocol: 'TCP' as const,
      from: Math.min(a, b),
      to: Math.max(a, b),
      expiresAt,
    })),
  );
  return fc.record({ in: fc.array(entry, { maxLength: 3 }), out: fc.array(entry, { maxLength: 3 }) });
}

function anyFullGraph(): fc.Arbitrary<FullGraph> {
  return fc.record({
    kind: fc.constant('full' as const),
    ...anyHead(),
    peers: anyPeers(),
    firewall: fc.record({ digest: fc.constant('0'.repeat(64)), full: anyRules() }),
  });
}

function anyDeltaGraph(): fc.Arbitrary<DeltaGraph> {
  return fc.record({
    kind: fc.constant('delta' as const),
    ...anyHead(),
    base: fc.nat(),
    peers: fc.record({ added: anyPeers(), updated: anyPeers(), removed: fc.constantFrom([], ['p_9']) }),
    firewall: fc.record({
      digest: fc.constant('f'.repeat(64)),
      delta: fc.record({ added: anyRules(), removed: anyRules() }),
    }),
  });
}
