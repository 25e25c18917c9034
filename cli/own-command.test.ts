import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { called } from './own-command.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-path-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true });
});

test('a hint names mesh as such where PATH leads to this installation, and else by its path', () => {
  vi.stubEnv('PATH', directory);
  expect(called('Sign in first: mesh login')).toBe('Sign in first: bin/mesh login');
  expect(called('Next: sudo mesh up --daemon, then mesh why a b')).toBe(
    'Next: sudo bin/mesh up --daemon, then bin/mesh why a b',
  );
  symlinkSync(path.resolve('bin/mesh'), path.join(directory, 'mesh'));
  expect(called('Sign in first: mesh login')).toBe('Sign in first: mesh login');
});

test('another program of that name on PATH is not named in a hint', () => {
  vi.stubEnv('PATH', directory);
  symlinkSync('/bin/sh', path.join(directory, 'mesh'));
  expect(called('Sign in first: mesh login')).toBe('Sign in first: bin/mesh login');
});

test('what is no command stays as it is', () => {
  vi.stubEnv('PATH', directory);
  for (const text of ['the mesh is up', 'bin/mesh login', 'a-mesh login', 'mesh uptime'])
    expect(called(text)).toBe(text);
});
