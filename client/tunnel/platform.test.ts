import { expect, it } from 'vitest';
import { linuxTunnels } from './linux.ts';
import { tunnelPlatform } from './platform.ts';

it('gives each operating system its own tunnels, and says where there are none', () => {
  expect(tunnelPlatform('linux')).toBe(linuxTunnels);
  expect(() => tunnelPlatform('win32')).toThrow('A node cannot run on win32: run it on Linux or macOS.');
});
