import { expect, test } from 'vitest';
import { changesOf, typedChanges } from '../../web/src/pages/change/typed-changes.ts';

const POLICY = 'kind: MeshPolicy\nmetadata:\n  name: a\nspec:\n  action: DENY\n  peerSelector: {}\n';
const PEER = 'kind: MeshPeer\nmetadata:\n  name: b\n  labels:\n    role: db\nspec:\n  network: lab\n  hostname: b\n';

test('what a plan shows as YAML becomes the changes that are sent', () => {
  const shown = (action: 'create' | 'update' | 'delete', resource: string, name: string, after: string) => ({
    action,
    resource,
    name,
    before: '',
    after,
  });
  const changes = [
    shown('create', 'MeshPolicy', 'a', POLICY),
    shown('update', 'MeshPeer', 'b', PEER),
    shown('delete', 'MeshPolicy', 'c', ''),
  ];
  expect(typedChanges(changes)).toEqual([
    { action: 'create', resource: 'MeshPolicy', name: 'a', spec: { action: 'DENY', peerSelector: {} } },
    { action: 'update', resource: 'MeshPeer', name: 'b', spec: { labels: { role: 'db' }, network: 'lab' } },
    { action: 'delete', resource: 'MeshPolicy', name: 'c' },
  ]);
});

test('text that is no list of changes says so instead of being sent', () => {
  expect(changesOf('- action: delete\n  resource: MeshPolicy\n  name: a\n')).toEqual([
    { action: 'delete', resource: 'MeshPolicy', name: 'a' },
  ]);
  for (const wrong of ['[]', 'action: delete']) expect(changesOf(wrong)).toContain('Write a list of changes');
  for (const wrong of ['', '- [']) expect(changesOf(wrong)).toContain('not YAML');
});
