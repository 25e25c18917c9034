import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isPassword, proxyCredential } from './credential.ts';

it('keeps one password for a directory, which only its owner reads', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-proxy-'));
  try {
    const first = proxyCredential(directory);
    expect(proxyCredential(directory)).toEqual(first);
    expect(statSync(first.file).mode & 0o777).toBe(0o600);
    expect([first.password, `${first.password}x`, ''].map((text) => isPassword(text, first))).toEqual([
      true,
      false,
      false,
    ]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
