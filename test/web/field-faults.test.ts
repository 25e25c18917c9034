import { expect, test } from 'vitest';
import { Problem } from '../../web/src/api/problem.ts';
import { faultsOf, fieldKey, ofOneDocument, placeText } from '../../web/src/ui/field-faults.ts';

test.each([
  ['New password', '/newPassword', 'This password is known from leaks.', ['This password is known from leaks.']],
  ['User name', '/username', 'must be a name', ['Must be a name.']],
  ['cidr', '/spec/cidr', 'must be a block', ['Must be a block.']],
  ['reach', '/reach/0/to/0', 'must name a peer', ['Entry 1: must name a peer.']],
  ['Name', '/labels/name', 'must be text', []],
  ['Name', '/metadata/name', 'is taken', ['Is taken.']],
  ['/spec/ingress/1/ports', '/spec/ingress/1/ports/0/port', 'must be a port', ['Entry 1: must be a port.']],
  ['/spec/ingress/1', '/spec/ingress/10/ports', 'must be ports', []],
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

test('a fault below several fields is shown by the nearest of them', () => {
  const errors = [
    { pointer: '/spec/ingress/0/from/0/ipBlock/cidr', detail: 'Write a CIDR.' },
    { pointer: '/spec/ingress/0/from/0', detail: 'Name somebody.' },
  ];
  const all = ['/spec/ingress', '/spec/ingress/0', '/spec/ingress/0/from/0', '/spec/ingress/0/from/0/ipBlock/cidr'];
  expect(all.map((key) => faultsOf(errors, [key], all))).toEqual([[], [], ['Name somebody.'], ['Write a CIDR.']]);
});

test('what is wrong with a manifest of one document is of fields, and what is wrong with several names these', () => {
  const fault = (index: number, name: string) => ({
    pointer: `/documents/${index}/spec/network`,
    detail: 'There is no such network.',
    document: { kind: 'MeshPolicy', name },
  });
  const problemOf = (...errors: ReturnType<typeof fault>[]) =>
    new Problem({
      title: 'Invalid input',
      detail: 'MeshPolicy a, /documents/0/spec/network: There is no such network.',
      errors,
    });
  const { errors, message } = ofOneDocument(problemOf(fault(0, 'a')));
  expect([errors, message]).toEqual([
    [{ pointer: '/spec/network', detail: 'There is no such network.' }],
    '/spec/network: There is no such network.',
  ]);
  const several = problemOf(fault(0, 'a'), fault(1, 'b'));
  expect(ofOneDocument(several)).toBe(several);
});
