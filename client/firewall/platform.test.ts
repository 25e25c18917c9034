import { expect, it } from 'vitest';
import { platformFirewall } from './platform.ts';

it('says where there is no firewall', () => {
  expect(() => platformFirewall('win32', 'mesh0')).toThrow('A node cannot run on win32: run it on Linux or macOS.');
});
