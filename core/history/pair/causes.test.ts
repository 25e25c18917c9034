import { expect, test } from 'vitest';
import { type playHistory as play, playHistory } from '../../../test/kits/plane/random-history.ts';
import { formatInstant } from '../../base/time.ts';
import { pairHistory } from './flips.ts';
import { identityOf } from './identity.ts';
import { pairRecords } from './pair-records.ts';
import { rangeOf } from './range.ts';

type Writes = Parameters<typeof play>[0][number]['writes'];
const DB = { matchLabels: { role: 'db' } };
const isolate = { do: 'policy', name: 'p1', spec: { action: 'DENY', peerSelector: DB }, ttl: undefined } as const;
const block = { peerSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.96.0.9/32' } }] }] };

test.each<[string, string, ...Writes[]]>([
  ['policy', 'MeshPolicy/p1', [isolate]],
  ['policy', 'MeshPolicy/p1', [isolate, { do: 'label', name: 'web-1', role: 'bot' }]],
  [
    'label',
    'MeshPeer/web-1',
    [{ ...isolate, spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'bot' } } } }],
    [{ do: 'label', name: 'web-1', role: 'bot' }],
  ],
  ['network', 'MeshPeer/db-1', [{ do: 'move', name: 'db-1', to: 'lab' }]],
  ['network', 'MeshNetwork/default', [{ do: 'network', action: 'DENY' }]],
  ['approval', 'MeshPeer/db-1', [{ do: 'phase', name: 'db-1', phase: 'revoked' }]],
  ['presence', 'Presence/db-1', [{ do: 'presence', name: 'db-1', online: false }]],
  ['expiry', 'MeshPolicy/p1', [{ ...isolate, ttl: 2 }]],
  [
    'address',
    'MeshPeer/web-1',
    [{ do: 'policy', name: 'p1', spec: { action: 'DENY', ...block }, ttl: undefined }],
    [{ do: 'address', name: 'web-1', last: 9 }],
  ],
  ['peer', 'MeshPeer/db-1', [{ do: 'remove', name: 'db-1' }]],
  [
    'delegation_bound',
    'MeshPeer/db-1',
    [{ do: 'agent', name: 'root', ttl: undefined }],
    [{ do: 'agent', name: 'child', ttl: undefined }],
    [{ do: 'remove', name: 'web-1' }],
    [{ do: 'join', name: 'web-1', role: 'web', ttl: undefined, by: 'child' }],
    [{ do: 'label', name: 'db-1', role: 'bot' }],
  ],
  [
    'expiry',
    'AgentIdentity/root',
    [{ do: 'agent', name: 'root', ttl: 5 }],
    [{ do: 'agent', name: 'child', ttl: undefined }],
    [{ do: 'remove', name: 'web-1' }],
    [{ do: 'join', name: 'web-1', role: 'web', ttl: undefined, by: 'child' }],
  ],
])('the last flip is told to be by %s, of %s', async (cause, resource, ...steps) => {
  const { kit, workspace, began, end } = await playHistory(steps.map((writes) => ({ wait: 1, writes })));
  await using _ = kit;
  const range = await rangeOf(kit.services, workspace, { from: formatInstant(began), to: formatInstant(end) });
  const [src, dst] = await Promise.all(
    ['web-1', 'db-1'].map((name) => identityOf(kit.services, workspace, name, range)),
  );
  if (!src || !dst) throw new TypeError('Both are there.');
  const records = await pairRecords(kit.services, workspace, { src, dst }, range);
  const { flips } = pairHistory(records, range.since, { src, dst });
  expect(flips.at(-1)?.causes.map((one) => [one.cause, `${one.kind}/${one.name}`])).toEqual([[cause, resource]]);
});
