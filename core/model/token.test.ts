import { expect, test } from 'vitest';
import { addressIn, newToken, parseToken, withAddress, withoutAddress } from './token.ts';

const token = newToken('dlg', 'A'.repeat(16));
const carrying = (url: string) => withAddress(token, { publicUrls: [url] });

test('a token gives back the address that it carries, and itself without it', () => {
  const carried = carrying('https://mesh.example.com:18090/dashboard');
  expect(carried).toMatch(/^mesh-dlg-[\w-]{43}-A{16}\.[\w-]+$/);
  expect([addressIn(carried), withoutAddress(carried)]).toEqual(['https://mesh.example.com:18090', token]);
  expect([addressIn(token), withoutAddress(token)]).toEqual([null, token]);
  expect(parseToken(withoutAddress(carried))).toEqual(parseToken(token));
});

test('an address of which the end was lost, however much, is none', () => {
  const carried = carrying('https://mesh.example.com');
  for (let end = token.length + 2; end < carried.length; end += 1)
    expect(addressIn(carried.slice(0, end))).toBeUndefined();
});

test.each([
  'ftp://mesh.example.com/',
  'http://127.0.0.1:18090/',
  'http://localhost/',
  'http://[::1]/',
  'http://0.0.0.0/',
  'https://mesh.example.com',
  'x',
])('what follows a token and reads %s is no address', (text) => {
  expect(addressIn(`${token}.${Buffer.from(text).toString('base64url')}`)).toBeUndefined();
});

test.each(['http://127.0.0.1:18090', 'http://a.localhost', `https://${'a.'.repeat(70)}example.com`])(
  'no token carries %s: others do not reach it, or the token would be too long',
  (url) => {
    expect(carrying(url)).toBe(token);
  },
);

test('a token with the longest address has fewer characters than a request takes', () => {
  const carried = carrying(`https://${'a'.repeat(119)}`);
  expect([addressIn(carried), carried.length]).toEqual([`https://${'a'.repeat(119)}`, 241]);
});

test('only tokens that a device joins with carry an address', () => {
  const other = newToken('agt');
  expect(withoutAddress(`${other}.${carrying('https://mesh.example.com').split('.')[1]}`)).not.toBe(other);
});
