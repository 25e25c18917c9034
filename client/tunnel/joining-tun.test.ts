import { expect, it } from 'vitest';
import { joinsNothing } from './joining-tun.ts';

it('knows by its version whether wireguard-go joins segments itself, and leaves one alone that it does not know', () => {
  const answers = [
    'wireguard-go v0.0.20220316\n\nUserspace WireGuard daemon for linux-amd64.\n',
    'wireguard-go v0.0.20230223\n',
    'wireguard-go v0.0.20250522\n',
    'wireguard-go v1.0.0\n',
    '',
  ];
  expect(answers.map(joinsNothing)).toEqual([true, false, false, false, false]);
});
