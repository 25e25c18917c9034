import { expect, test } from 'vitest';
import { faultsOf, fieldKey, placeText } from '../../web/src/ui/field-faults.ts';

test.each([
  ['New password', '/newPassword', 'This password is known from leaks.', ['This password is known from leaks.']],
  ['User name', '/username', 'must be a name', ['Must be a name.']],
  ['cidr', '/spec/cidr', 'must be a block', ['Must be a block.']],
  ['reach', '/reach/0/to/0', 'must name a peer', ['Entry 1: must name a peer.']],
  ['Name', '/labels/name', 'must be text', []],
])('a field %s shows what is said of %s', (label, pointer, detail, shown) => {
  expect(faultsOf([{ pointer, detail }], [fieldKey(label)])).toEqual(shown);
});

test('a field that stands for several of the API shows what is said of the first of them alone', () => {
  const errors = ['/slug', '/namespace'].map((pointer) => ({ pointer, detail: `${pointer.slice(1)} is wrong.` }));
  expect(faultsOf(errors, ['namespace', 'slug'])).toEqual(['Namespace is wrong.']);
});

test.each([
  ['/spec/ingress/0/from/1/peerSelector', 'Ingress 1, from 2, peer selector'],
  ['/period_start', 'Period start'],
  ['/spec/peerSelector/matchLabels/mesh.internal~1agent', 'Peer selector, match labels, mesh.internal/agent'],
])('a place %s that no field shows is said in words', (pointer, words) => {
  expect(placeText({ pointer, detail: '' })).toBe(words);
});

test('a fault of one of several documents names the document', () => {
  const document = { kind: 'MeshPolicy', name: 'web' };
  expect(placeText({ pointer: '/spec/action', detail: '', document })).toBe('MeshPolicy web (Action)');
  expect(faultsOf([{ pointer: '/name', detail: 'is taken', document }], ['name'])).toEqual([]);
});
