import { expect, test } from 'vitest';
import { graphOf } from '../agent/overlay.testkit.ts';
import type { NodeConfig } from '../enrol/node-config.ts';
import { withRouteSettings } from './route-settings.ts';

const OLD = { server: 'https://10.5.0.1', signalingUrl: 'nats://mesh.test:4222', id: 'p_self' } as NodeConfig;
const routed = (cidr: string) => graphOf([], { self: { ...graphOf([]).self, cidr } });
const resolve = async () => ['10.6.0.1'];
const none = async () => [];

test.each(['8.8.8.0/24', '128.0.0.0/1', '10.5.0.0/16', '10.6.0.0/24'])(
  'the block %s that an earlier version routed and that is refused now is written down, once',
  async (cidr) => {
    const settled = await withRouteSettings(OLD, routed(cidr), none, resolve);
    expect(settled).toEqual({ ...OLD, acceptRoutes: [], carriedBlock: cidr });
    expect(await withRouteSettings(settled, routed('9.9.9.0/24'), none, resolve)).toBe(settled);
  },
);

test('a block that an earlier version routed on a host that translates its addresses is written down: the overlay stays', async () => {
  const translations = async () => ['10.96.0.1 (chain KUBE-SERVICES of the table ip nat)'];
  expect(await withRouteSettings(OLD, routed('10.96.0.0/24'), translations, resolve)).toEqual({
    ...OLD,
    acceptRoutes: [],
    carriedBlock: '10.96.0.0/24',
  });
});

test('a block that may be routed is not written down, nor is there one before the first graph', async () => {
  expect(await withRouteSettings(OLD, routed('10.96.0.0/24'), none, resolve)).toEqual({ ...OLD, acceptRoutes: [] });
  expect(await withRouteSettings(OLD, undefined, none)).toEqual({ ...OLD, acceptRoutes: [] });
});

test('a node of this version keeps no block, whatever it held', async () => {
  const config = { ...OLD, acceptRoutes: [] };
  expect(await withRouteSettings(config, routed('8.8.8.0/24'), none, resolve)).toBe(config);
});
