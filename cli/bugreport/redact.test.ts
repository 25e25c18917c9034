import { describe, expect, test } from 'vitest';
import { newId } from '../../core/base/ids.ts';
import { ownLines } from './own-lines.ts';
import { REMOVED, redactedJson, redactor } from './redact.ts';

const KEY = 'A0+/bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN=';
const unknown = redactor([], new Set());

describe('a text that has the form of a secret is removed, whoever wrote it:', () => {
  test.each([
    ['a join token', 'token mesh-join-abcdefghijklmnop_qrstuvwxyz-0123456789abcdef here', 'abcdefghij'],
    ['a token with the address of its control plane', 'mesh-dlg-abcdefghijklmnop-01234.aHR0cHM6Ly9tZXNo x', 'aHR0c'],
    ['a join link', 'open mesh://join?server=https%3A%2F%2Fx&token=whatever', 'whatever'],
    ['a password in an address', 'nats://ada:hunter2hunter@bus:4222', 'hunter2'],
    ['the credential of a relay', 'lrps://c3VwZXJzZWNyZXQ@relay:6266', 'c3VwZX'],
    ['an authorization', 'Authorization: Bearer abc.def.ghi', 'abc.def'],
    ['a password with a slash in an address', 'dial nats://ada:hunt/er2@bus', 'er2'],
    ['a password with an @ in an address', 'dial http://ada:p@sshunter@proxy', 'sshunter'],
    ['a JSON web token', 'sent Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl', 'eyJzdWI'],
    ['a setting of several words', 'password="horse battery"', 'battery'],
    ['a cookie', 'cookie: theme=dark; sid=abcdef', 'abcdef'],
    ['a field of JSON', '{"deviceToken": "short-one"}', 'short-one'],
    ['a field of JSON in JSON', '{\\"dbPassword\\":\\"short-one\\"}', 'short-one'],
    ['a setting', 'AWS_SECRET_ACCESS_KEY=correct-horse', 'correct-horse'],
    ['an option', 'ran psql --password correct-horse -h db', 'correct-horse'],
    ['a key in base64', `handed ${KEY}`, 'bcdefghijk'],
    ['a key in hex', `set ${'ab12'.repeat(16)}`, 'ab12ab12'],
    ['a key file', '-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----', 'MIIabc'],
    ['a key file that was cut off', '-----BEGIN EC PRIVATE KEY-----\nMIIabc', 'MIIabc'],
  ])('%s', (_kind, text, secret) => {
    expect(unknown(text)).not.toContain(secret);
    expect(unknown(text)).toContain(REMOVED);
  });
});

test('a known secret is removed in every form that programs write it in', () => {
  const secret = 'p@ss"word/1';
  const safe = redactor([KEY, secret], new Set());
  const bytes = Buffer.from(KEY, 'base64');
  const forms = [
    ...[KEY, bytes.toString('hex'), bytes.toString('base64url')],
    ...[secret, 'p@ss\\"word/1', 'p%40ss%22word%2F1'],
    ...[Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')],
  ];
  for (const form of forms) expect([form, safe(`said ${form} here`)]).toEqual([form, `said ${REMOVED} here`]);
});

test('a secret that contains another is removed whole', () => {
  expect(redactor(['abcdef', 'xx-abcdef-yy'], new Set())('is xx-abcdef-yy.')).toBe(`is ${REMOVED}.`);
});

test('names, addresses, ids, instants and known public keys stay', () => {
  const lines = [
    `10.96.0.1 ${newId('p')} 2026-01-01T00:00:00.000Z fd6c:7270::1 mesh-web-1 mesh.example.net:8080`,
    `peer ${KEY} answers at 203.0.113.7:51820, and at [2001:db8::7]:51820.`,
    'file:///usr/lib/node_modules/mesh/dist/client/agent/network-interfaces/overlay.js:10:4',
    'allowed ips: 10.96.0.2/32; latest handshake: 4 seconds ago',
  ];
  const safe = redactor([], new Set([KEY]));
  for (const line of lines) expect(safe(line)).toBe(line);
});

test('texts of a value lose their secrets, and numbers stay', () => {
  const safe = redactor(['hunter2'], new Set());
  expect(JSON.parse(redactedJson(safe, { a: ['is hunter2', 3, true, null] }))).toEqual({
    a: [`is ${REMOVED}`, 3, true, null],
  });
});

test('of a log the lines of the node itself stay, and crashes of this software', () => {
  const own = '2026-01-01T00:00:00.000Z info  up as db-1';
  const crash = ['TypeError: x is not a function', '    at run (file:///opt/mesh/client/agent.ts:1:1)'];
  const other = ['RangeError: y', '    at file:///srv/other.js:1:1', 'sudo: ada: /bin/login swordfish'];
  expect(ownLines([own, ...crash, ...other], 'file:///opt/mesh/').split('\n')).toEqual([
    own,
    ...crash,
    '(3 lines that the node did not log are left out)',
  ]);
});
