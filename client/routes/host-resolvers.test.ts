import { expect, test } from 'vitest';
import { hostResolvers } from './host-resolvers.ts';

const HOST = { servers: [], behindTheStub: '', own: ['10.96.0.1'] };
const BEHIND = '# by systemd-resolved\nnameserver 10.5.0.2\nnameserver 10.96.0.1\nsearch example.com\n';

test('the resolvers of a host are those of its resolv.conf, without ports', () => {
  const servers = ['10.5.0.2', '10.5.0.3:5353', '[2001:db8::1]:53', '2001:db8::2', '10.5.0.2'];
  expect(hostResolvers({ ...HOST, servers })).toEqual(['10.5.0.2', '10.5.0.3', '2001:db8::1', '2001:db8::2']);
});

test('one on the host itself does not count: on loopback, or on an address of its own, as that of a node', () => {
  expect(hostResolvers({ ...HOST, servers: ['127.0.0.1', '127.0.0.1:5353', '::1', '10.96.0.1'] })).toEqual([]);
});

test('of systemd-resolved those count that it asks itself, and only where programs ask it', () => {
  expect(hostResolvers({ ...HOST, servers: ['127.0.0.53'], behindTheStub: BEHIND })).toEqual(['10.5.0.2']);
  expect(hostResolvers({ ...HOST, servers: ['127.0.0.1'], behindTheStub: BEHIND })).toEqual([]);
});
