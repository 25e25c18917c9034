import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { nodeConfigFile } from '../client/enrol/node-config.ts';
import { DEFAULT_SERVER, sessionFile, targetOf, writeSession } from './session.ts';

const NODE = 'http://plane.example.net:18090';
const LOGIN = 'http://other.example.net:18090';

test('commands ask the server that is named, else that of the last login, else that of the node here', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'session-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('MESH_CONFIG_DIR', directory);
  vi.stubEnv('MESH_SERVER', undefined);
  vi.stubEnv('MESH_TOKEN', undefined);
  expect(targetOf({}).server).toBe(DEFAULT_SERVER);
  writeFileSync(nodeConfigFile(directory), JSON.stringify({ server: NODE }));
  expect(targetOf({}).server).toBe(NODE);
  writeSession({ server: LOGIN });
  expect(targetOf({}).server).toBe(LOGIN);
  vi.stubEnv('MESH_SERVER', NODE);
  expect(targetOf({}).server).toBe(NODE);
  expect(targetOf({ server: LOGIN }).server).toBe(LOGIN);
});

test('a variable that is empty is none', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'session-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('HOME', directory);
  for (const name of ['MESH_CONFIG_DIR', 'MESH_SERVER', 'MESH_TOKEN', 'MESH_WORKSPACE']) vi.stubEnv(name, '');
  expect(targetOf({})).toEqual({ server: DEFAULT_SERVER, token: undefined, workspace: undefined });
  expect(sessionFile()).toBe(path.join(directory, '.mesh', 'session.json'));
});
