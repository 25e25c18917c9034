import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { runnable, setHintTarget } from './own-command.ts';

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
  expect(runnable('Sign in first: mesh login')).toBe('Sign in first: bin/mesh login');
  expect(runnable('Next: sudo mesh up --daemon, then mesh why a b')).toBe(
    'Next: sudo bin/mesh up --daemon, then bin/mesh why a b',
  );
  symlinkSync(path.resolve('bin/mesh'), path.join(directory, 'mesh'));
  expect(runnable('Sign in first: mesh login')).toBe('Sign in first: mesh login');
});

test('a hint names this installation by its whole path from anywhere but its own directory', () => {
  vi.stubEnv('PATH', directory);
  vi.spyOn(process, 'cwd').mockReturnValue('/');
  onTestFinished(() => void vi.restoreAllMocks());
  expect(runnable('Sign in first: mesh login')).toBe(
    `Sign in first: ${path.resolve(import.meta.dirname, '../bin/mesh')} login`,
  );
});

test('a hint is for the server and workspace that the command line named; those of the node know theirs', () => {
  symlinkSync(path.resolve('bin/mesh'), path.join(directory, 'mesh'));
  vi.stubEnv('PATH', directory);
  setHintTarget({ server: 'https://mesh.example:8443', workspace: "o'dd" });
  onTestFinished(() => setHintTarget({}));
  expect(runnable('Next: mesh admin generate-join-token')).toBe(
    "Next: MESH_SERVER=https://mesh.example:8443 MESH_WORKSPACE='o'\\''dd' mesh admin generate-join-token",
  );
  expect(runnable('Sign in first: mesh login')).toBe('Sign in first: mesh login');
  setHintTarget({ server: 'https://one.example', workspace: 'two' });
  expect(runnable('Run: mesh approve p_1 --server https://own.example, or mesh admin list-peers')).toBe(
    'Run: MESH_WORKSPACE=two mesh approve p_1 --server https://own.example, ' +
      'or MESH_SERVER=https://one.example MESH_WORKSPACE=two mesh admin list-peers',
  );
  setHintTarget({ workspace: 'two' });
  expect(runnable('  mesh approve wf_1')).toBe('  MESH_WORKSPACE=two mesh approve wf_1');
});

test('a hint names meshd in the same way', () => {
  vi.stubEnv('PATH', directory);
  const hint = 'restore a backup:  meshd restore FILE\nor  meshd --standalone --accept-loss';
  expect(runnable(hint)).toBe('restore a backup:  bin/meshd restore FILE\nor  bin/meshd --standalone --accept-loss');
  symlinkSync(path.resolve('bin/meshd'), path.join(directory, 'meshd'));
  expect(runnable(hint)).toBe(hint);
});

test('another program of that name on PATH is not named in a hint', () => {
  vi.stubEnv('PATH', directory);
  symlinkSync('/bin/sh', path.join(directory, 'mesh'));
  expect(runnable('Sign in first: mesh login')).toBe('Sign in first: bin/mesh login');
});

test('what is no command stays as it is', () => {
  vi.stubEnv('PATH', directory);
  for (const text of ['the mesh is up', 'bin/mesh login', 'a-mesh login', 'mesh uptime', 'Start meshd now'])
    expect(runnable(text)).toBe(text);
});

test('a hint of a command whose working directory was deleted names the launcher as it stands', () => {
  vi.stubEnv('PATH', directory);
  const launcher = path.resolve('bin/mesh');
  const cwd = vi.spyOn(process, 'cwd').mockImplementation(() => {
    throw Object.assign(new Error('ENOENT: no such file or directory, uv_cwd'), { syscall: 'uv_cwd' });
  });
  onTestFinished(() => cwd.mockRestore());
  expect(runnable('Sign in first: mesh login')).toBe(`Sign in first: ${launcher} login`);
});
