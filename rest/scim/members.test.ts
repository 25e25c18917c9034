import { expect, test } from 'vitest';
import { takeMemberOperations } from './members.ts';

const PATCH = { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'] };
const IDS = Array.from({ length: 10_000 }, (_, n) => `diru_${n}`);

function after(before: readonly string[], ...Operations: object[]) {
  return [...takeMemberOperations({ ...PATCH, Operations }).change(new Set(before))];
}

test.each([
  ['adds by a list', ['a'], [{ op: 'Add', path: 'members', value: [{ value: 'b' }] }], ['a', 'b']],
  ['adds without a path', ['a'], [{ op: 'add', value: { Members: [{ value: 'b' }] } }], ['a', 'b']],
  ['replaces all', ['a'], [{ op: 'replace', path: 'members', value: [{ value: 'b' }] }], ['b']],
  ['removes by a path', ['a', 'b'], [{ op: 'remove', path: 'members[value eq "a"]' }], ['b']],
  ['removes by a list', ['a', 'b'], [{ op: 'Remove', path: 'members', value: [{ value: 'a' }] }], ['b']],
  ['removes all', ['a', 'b'], [{ op: 'remove', path: 'members' }], []],
  [
    'goes by their order',
    ['a'],
    [
      { op: 'add', path: 'members', value: { value: 'b' } },
      { op: 'remove', path: 'members[value eq "b"]' },
    ],
    ['a'],
  ],
])('a PATCH of members %s', (_what, before, operations, members) => {
  expect(after(before, ...operations)).toEqual(members);
});

test('leaves to the library what is not about members', () => {
  const name = { op: 'replace', path: 'displayName', value: 'x' };
  const both = { op: 'replace', value: { displayName: 'y', members: [] } };
  const { rest } = takeMemberOperations({ ...PATCH, Operations: [name, both] });
  expect(rest['Operations']).toEqual([name, { op: 'replace', value: { displayName: 'y' } }]);
});

test('removes ten thousand members of as many, by one list or by as many paths', () => {
  expect(after(IDS, { op: 'remove', path: 'members', value: IDS.map((value) => ({ value })) })).toEqual([]);
  const one = IDS.slice(1).map((id) => ({ op: 'remove', path: `members[value eq "${id}"]` }));
  expect(after(IDS, ...one)).toEqual(['diru_0']);
});

test.each([
  ['a filter for something else', { op: 'remove', path: 'members[type eq "User"]' }],
  ['a part of a member', { op: 'add', path: 'members.value', value: 'x' }],
  ['a member without an id', { op: 'add', path: 'members', value: [{ display: 'x' }] }],
])('refuses %s', (_what, operation) => {
  expect(() => after([], operation)).toThrow(expect.objectContaining({ status: 400 }));
});
