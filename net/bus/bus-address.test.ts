import { expect, test } from 'vitest';
import { parseBusUrl } from './bus-address.ts';

test.each([
  ['nats://a:4222', { servers: ['a:4222'], tls: false, login: undefined }],
  [
    'tls://a.example.net, tls://[2001:db8::1]:5222/',
    { servers: ['a.example.net:4222', '[2001:db8::1]:5222'], tls: true },
  ],
  ['nats://u:p%40w@a:1,nats://b:2', { servers: ['a:1', 'b:2'], login: { user: 'u', pass: 'p@w' } }],
  ['nats://secret@a:1', { login: { token: 'secret' } }],
])('%s names the servers of a bus', (url, place) => {
  expect(parseBusUrl(url)).toMatchObject(place);
});

test.each([
  '',
  'http://a:1',
  'nats://a:0',
  'nats://a:1,',
  'nats://a:1,tls://b:2',
  'nats://u:secret@a:1,nats://v:secret@b:1',
  'nats://%zzsecret@a:1',
])('%j is no bus, and what is said of it repeats nothing of it', (url) => {
  const { problem = '' } = parseBusUrl(url) as { problem?: string };
  expect(problem).toMatch(/^must have/);
  expect(problem).not.toContain('secret');
});
