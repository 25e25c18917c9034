import { expect, it } from 'vitest';
import { generationOf } from './generation.ts';

it('knows by its version how a wireguard-go hands on packets, and takes one that it does not know for new', () => {
  const answers = [
    'wireguard-go v0.0.20220316\n\nUserspace WireGuard daemon for linux-amd64.\n',
    'wireguard-go v0.0.20230223\n',
    'wireguard-go v0.0.20250522\n',
    'wireguard-go v1.0.0\n',
    '',
  ];
  expect(answers.map(generationOf)).toEqual(['one-by-one', 'batches', 'batches', 'batches', 'batches']);
});
