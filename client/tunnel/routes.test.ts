import { expect, it } from 'vitest';
import { collidingRoutes } from './routes.ts';

const ROUTES = JSON.stringify([
  { dst: 'default', gateway: '192.0.2.1', dev: 'eth0' },
  { dst: '0.0.0.0/1', dev: 'tun0' },
  { dst: '10.0.0.0/8', gateway: '192.0.2.9', dev: 'eth0' },
  { dst: '10.96.0.64/26', dev: 'docker0', scope: 'link' },
  { dst: '10.96.0.0/24', dev: 'mesh0', scope: 'link' },
  { dst: '192.0.2.0/24', dev: 'eth0' },
  { type: 'local', dst: '10.96.0.65', dev: 'docker0', table: 'local' },
  { type: 'broadcast', dst: '10.96.0.127', dev: 'docker0', table: 'local' },
  { type: 'unreachable', dst: '10.96.0.200' },
  { dst: 'fd00::/64', dev: 'eth0' },
  { dst: 'fe80::/64', dev: 'eth0' },
]);

it('names every route, wider or narrower, that has an address in the block', () => {
  expect(collidingRoutes('10.96.0.0/24', ROUTES, 'mesh0')).toEqual([
    '10.0.0.0/8 on eth0',
    '10.96.0.64/26 on docker0',
    '10.96.0.65 on docker0',
    '10.96.0.200 (unreachable)',
  ]);
  expect(collidingRoutes('fd00::/48', ROUTES, 'mesh0')).toEqual(['fd00::/64 on eth0']);
});

it('finds none for a block of its own, beside default routes and their halves', () => {
  expect(collidingRoutes('100.64.0.0/10', ROUTES, 'mesh0')).toEqual([]);
});

it.each(['', '[]', '{}', 'null', '[null, 7, {}, {"dst": 5}, {"dst": "multicast"}]'])(
  'reads nothing from %j',
  (json) => {
    expect(collidingRoutes('10.96.0.0/24', json, 'mesh0')).toEqual([]);
  },
);
