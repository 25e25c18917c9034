import { expect, it } from 'vitest';
import { linuxTunnels } from './linux.ts';
import { defaultInterface, tunnelPlatform } from './platform.ts';

it('gives each operating system its own tunnels, and says where there are none', () => {
  expect(tunnelPlatform('linux')).toBe(linuxTunnels);
  expect(() => tunnelPlatform('win32')).toThrow('A node cannot run on win32: run it on Linux or macOS.');
});

it('names interfaces as the operating system does', () => {
  expect([defaultInterface('linux'), defaultInterface('darwin')]).toEqual(['mesh0', 'utun96']);
});
