import { describe, expect, test } from 'vitest';
import { REMOVED, redactor } from './redact.ts';

const KEY = 'A0+/bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN=';
const unknown = redactor([], new Set());

describe('what reads as a secret goes, whoever wrote it:', () => {
  test.each([
    [
      'a join token',
      'token mesh-join-abcdefghijklmnop_qrstuvwxyzABCDEFGHIJKLMNOPQ-0123456789abcdef here',
      'abcdefghij',
    ],
    ['a join link', 'open mesh://join?server=https%3A%2F%2Fx&token=whatever', 'whatever'],
    ['a password in an address', 'nats://ada:hunter2hunter@bus:4222', 'hunter2'],
    ['the credential of a relay', 'lrps://c3VwZXJzZWNyZXQ@relay:6266', 'c3VwZX'],
    ['an authorization', 'Authorization: Bearer abc.def.ghi', 'abc.def'],
    ['a field of JSON', '{"deviceToken": "short-one"}', 'short-one'],
    ['a setting', 'MESH_PASSWORD=correct-horse', 'correct-horse'],
    ['a query', 'GET /x?token=abcdef&a=1', 'abcdef'],
    ['a key in base64', `key ${KEY}`, 'bcdefghijk'],
    ['a key in hex', `private ${'ab12'.repeat(16)}`, 'ab12ab12'],
    ['a key file', '-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----', 'MIIabc'],
    ['a key file that was cut off', '-----BEGIN EC PRIVATE KEY-----\nMIIabc', 'MIIabc'],
  ])('%s', (_what, text, secret) => {
    expect(unknown(text)).not.toContain(secret);
    expect(unknown(text)).toContain(REMOVED);
  });
});

test('a known secret goes in every form that programs write it in', () => {
  const safe = redactor([KEY, 'p@ss"word/1'], new Set());
  const hex = Buffer.from(KEY, 'base64').toString('hex');
  const base64url = Buffer.from(KEY, 'base64').toString('base64url');
  const forms = [
    KEY,
    hex,
    base64url,
    'p@ss"word/1',
    'p@ss\\"word/1',
    'p%40ss%22word%2F1',
    Buffer.from('p@ss"word/1').toString('base64'),
  ];
  for (const form of forms) expect([form, safe(`x${form}y`)]).toEqual([form, `x${REMOVED}y`]);
});

test('what helps stays: public keys that are known, addresses, names, paths and times', () => {
  const safe = redactor([], new Set([KEY]));
  const text = `peer: ${KEY}\n  endpoint: 203.0.113.7:51820 [fd6c:7270::1]:5 db-1 p_0123456789abcdef /var/log/mesh/mesh0.log 2026-01-01T00:00:00.000Z token`;
  expect(safe(text)).toBe(text);
});
