import { expect, test } from 'vitest';
import { allowListOf, isAllowEntry, refusalOf, targetOf } from './target.ts';

const NOTHING = allowListOf([]);
const verdict = (url: string, allow: readonly string[] = []) => {
  const target = targetOf(url, allowListOf(allow));
  return typeof target === 'string' ? 'refused' : target.host;
};

test.each([
  'https://127.0.0.1/',
  'https://127.0.0.1./',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://%31%32%37.0.0.1/',
  'https://１２７.０.０.１/',
  'https://127。0。0。1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://10.96.0.7/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://100.100.100.200/',
  'https://169.254.169.254/latest/meta-data',
  'https://168.63.129.16/',
  'https://192.0.0.192/',
  'https://192.0.2.1/',
  'https://198.18.0.1/',
  'https://198.51.100.1/',
  'https://203.0.113.1/',
  'https://192.88.99.1/',
  'https://224.0.0.1/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::1]/',
  'https://[100::1]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[2002:7f00:1::]/',
  'https://[3fff::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[fe80::1%25eth0]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://hooks.example.com./',
  'https://ada@hooks.example.com/',
  'https://:secret@hooks.example.com/',
  'https://hooks.example.com/#part',
  'http://hooks.example.com/',
  'http://8.8.8.8/',
  'ftp://hooks.example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '//hooks.example.com/',
  'hooks.example.com',
  'https://',
])('%s is refused', (url) => {
  expect(verdict(url)).toBe('refused');
});

test.each([
  ['https://hooks.example.com/a?b=c', 'hooks.example.com'],
  ['https://HOOKS.Example.com:8443/', 'hooks.example.com'],
  ['https://bücher.example/', 'xn--bcher-kva.example'],
  ['https://8.8.8.8/', '8.8.8.8'],
  ['https://134744072/', '8.8.8.8'],
  ['https://[2606:4700::1111]/', '2606:4700::1111'],
])('%s is accepted as %s', (url, host) => {
  expect(verdict(url)).toBe(host);
});

test.each([
  ['https://10.1.2.3/', ['10.1.0.0/16'], '10.1.2.3'],
  ['http://10.1.2.3/', ['10.1.0.0/16'], '10.1.2.3'],
  ['http://10.2.2.3/', ['10.1.0.0/16'], 'refused'],
  ['http://[::1]:8080/', ['::1'], '::1'],
  ['http://hooks.internal/', ['Hooks.internal'], 'hooks.internal'],
  ['http://other.internal/', ['hooks.internal'], 'refused'],
  ['http://8.8.8.8/', ['10.1.0.0/16'], 'refused'],
])('%s with %j allowed is %s', (url, allow, found) => {
  expect(verdict(url, allow)).toBe(found);
});

test.each([
  [['8.8.8.8'], true],
  [['2606:4700::1111', '8.8.8.8'], true],
  [['8.8.8.8', '10.0.0.1'], false],
  [['8.8.8.8', '::1'], false],
  [['fe80::1%eth0'], false],
  [['no address'], false],
  [[], false],
])('a name that means %j is sent to: %s', (addresses, isSent) => {
  const target = targetOf('https://hooks.example.com/', NOTHING);
  if (typeof target === 'string') throw new Error(target);
  expect(refusalOf(target, addresses, NOTHING) === undefined).toBe(isSent);
});

test('what a refusal says tells no address of the inside', () => {
  const target = targetOf('https://hooks.example.com/', NOTHING);
  if (typeof target === 'string') throw new Error(target);
  expect(refusalOf(target, ['10.1.2.3'], NOTHING)).not.toContain('10.1.2.3');
});

test('http to a name is for addresses that are allowed, every one of them', () => {
  const allowed = allowListOf(['10.1.0.0/16']);
  const target = targetOf('http://hooks.example.com/', allowed);
  if (typeof target === 'string') throw new Error(target);
  expect(refusalOf(target, ['10.1.2.3'], allowed)).toBeUndefined();
  expect(refusalOf(target, ['10.1.2.3', '8.8.8.8'], allowed)).toContain('Use https');
});

test.each([
  ['hooks.internal', true],
  ['hooks', true],
  ['10.0.0.0/8', true],
  ['fd00::/8', true],
  ['::1', true],
  ['10.0.0.0/33', false],
  ['10.0.0.300', false],
  ['http://hooks', false],
  ['', false],
])('the entry %j of the setting can be read: %s', (entry, isRead) => {
  expect(isAllowEntry(entry)).toBe(isRead);
});
