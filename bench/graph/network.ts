import { randomBytes } from 'node:crypto';
import type { Op, Store } from '../../core/base/ports.ts';
import { draftOf, type StoredRecord } from '../../core/base/record.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import { generateKeyPair, type KeyPair } from '../../net/seal/x25519.ts';
import { peer, policy } from '../../test/kits/records/records.ts';

/** A network in groups: a peer may talk to the others of its group, so that it has 49 neighbours. */
export const GROUP = 50;
const BATCH = 500;
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'bench' } as const;

/** A peer whose messages the bench can open. */
export interface Live {
  readonly id: string;
  readonly name: string;
  readonly group: number;
  readonly pair: KeyPair;
}

export function groupPolicy(group: number, port: number): PolicySpec {
  const peerSelector = { matchLabels: { app: `g${group}` } };
  const ports = [{ protocol: 'TCP' as const, port }];
  return {
    action: 'ALLOW',
    peerSelector,
    ingress: [{ from: [{ peerSelector }], ports }],
    egress: [{ to: [{ peerSelector }], ports }],
  };
}

/** Lets the gateway, the first peer, reach all peers of the first groups. */
export function gatewayPolicy(groups: number): PolicySpec {
  const gateway = { matchLabels: { role: 'gateway' } };
  const values = Array.from({ length: groups }, (_, group) => `g${group}`);
  return {
    action: 'ALLOW',
    peerSelector: { matchExpressions: [{ key: 'app', operator: 'In', values }] },
    ingress: [{ from: [{ peerSelector: gateway }], ports: [{ protocol: 'TCP', port: 443 }] }],
  };
}

/** Writes the network into a store; the peers of the first groups are live ones, with keys of their own. */
export async function seedNetwork(
  store: Pick<Store, 'commit'>,
  workspace: string,
  size: number,
  live: number,
): Promise<Live[]> {
  const lives: Live[] = [];
  for (let from = 0; from < size; from += BATCH) {
    const ops: Op[] = [];
    for (let index = from; index < Math.min(size, from + BATCH); index++) {
      const name = `peer-${index}`;
      const group = Math.floor(index / GROUP);
      const pair = index < live ? generateKeyPair() : undefined;
      const publicKey = Buffer.from(pair?.publicKey ?? randomBytes(32)).toString('base64');
      const labels = index === 0 ? { role: 'gateway' } : { app: `g${group}` };
      const record = draftOf(peer(name, { labels, publicKey, address: addressOf(index) }));
      ops.push({ op: 'create', record });
      if (pair) lives.push({ id: record.uid, name, group, pair });
    }
    await store.commit(workspace, ops, WHY);
  }
  const groups = Math.ceil(size / GROUP);
  for (let from = 0; from < groups; from += BATCH) {
    const ops = Array.from({ length: Math.min(BATCH, groups - from) }, (_, n) =>
      create(policy(`g${from + n}`, groupPolicy(from + n, 5432))),
    );
    await store.commit(workspace, ops, WHY);
  }
  return lives;
}

function create(record: StoredRecord): Op {
  return { op: 'create', record: draftOf(record) };
}

export function addressOf(index: number): string {
  return `10.${96 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}
