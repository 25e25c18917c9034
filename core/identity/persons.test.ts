import { expect, test } from 'vitest';
import { accountsByPerson, type PersonalAccount } from './persons.ts';

function account(uid: string, ...[address, ...formerAddresses]: string[]): PersonalAccount {
  const issued = address === undefined ? undefined : { issuer: 'i', subject: uid, address, formerAddresses };
  return { uid, name: uid, spec: { ...(issued && { issued }) } };
}

test.each([
  ['with different addresses', [account('a', 'x'), account('b', 'y')], [['a'], ['b']]],
  ['without an address', [account('a'), account('b')], [['a'], ['b']]],
  ['with one address', [account('a', 'x'), account('b', 'x')], [['a', 'b']]],
  ['of which one had the address of the other', [account('a', 'x', 'z'), account('b', 'y', 'x')], [['a', 'b']]],
  ['that a third one joins', [account('a', 'x'), account('b', 'y'), account('c', 'x', 'y')], [['a', 'b', 'c']]],
  ['one of which is named by the address', [account('a', 'x@y'), account('x@y')], [['a', 'x@y']]],
])('accounts %s', (_what, accounts, persons) => {
  const found = [...new Set(accountsByPerson(accounts).values())].map((own) => [...own].toSorted());
  expect(found.toSorted()).toEqual(persons);
});
