import { expect, test } from 'vitest';
import { peer, stateWith } from '../../test/kits/records/records.ts';
import { customResource } from './custom-resource.ts';
import { peerSchema, peerView } from './peer-view.ts';

const expiresAt = '2030-01-01T00:00:00.000Z';

function viewOf(...[name, fields]: Parameters<typeof peer>) {
  const record = peer(name, fields);
  const nothing = () => undefined;
  return peerView(record, stateWith(record), {
    lastSeen: nothing,
    version: nothing,
    mismatch: nothing,
    keySharedAt: nothing,
    isHere: nothing,
  });
}

test('the document of a peer says every field of its answer, and none twice', () => {
  const view = viewOf('web', { labels: { role: 'web' }, agentRef: 'bot', delegatedBy: 'boss', expiresAt });
  const { spec, status, metadata } = customResource('MeshPeer', view, 'prod');
  const { agent: agentRef, id, name, labels, createdAt, revision, status: shown, ...rest } = view;
  expect({ spec, status, metadata }).toEqual({
    spec: { ...rest, agentRef },
    status: shown,
    metadata: { name, labels, namespace: 'prod' },
  });
  expect(Object.keys(spec)).toHaveLength(Object.keys(peerSchema.shape).length - 6);
});

test('the document of a peer leaves out what the peer does not have', () => {
  const { spec } = customResource('MeshPeer', viewOf('web'), 'prod');
  expect(Object.keys(spec)).toEqual(['displayName', 'hostname', 'platform', 'publicKey', 'network']);
});
