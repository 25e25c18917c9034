import { expect, test } from 'vitest';
import { askDns } from '../lookup.ts';
import { addressesOf } from './ice-port.ts';

test.each([
  ['127.0.0.1:99', [{ address: '127.0.0.1', port: 99 }]],
  ['127.0.0.1', [{ address: '127.0.0.1', port: 3_478 }]],
  ['[::1]:99', [{ address: '::1', port: 99 }]],
])('%j is a place', async (name, places) => {
  expect(await addressesOf(name, askDns)).toEqual(places);
});

test.each(['127.0.0.1:0', '127.0.0.1:99999', '', '[]', '[]:9', 'a\0b', 'a\0b:9', '\u202e:9', `${'x'.repeat(500)}:9`])(
  '%j is none, and nothing fails for it',
  async (name) => {
    expect(await addressesOf(name, askDns)).toEqual([]);
  },
);
