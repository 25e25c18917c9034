import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError, loadConfig, type Variables } from './config.ts';
import { type Start, startProblems } from './start-problems.ts';

const SEVERAL: Start = { part: undefined, standalone: false };
const ALONE: Start = { part: undefined, standalone: true };

function directory(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'mesh-start-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

/** The variables that a start names, each as often as it names it. */
async function named(given: Variables, start: Start): Promise<string[]> {
  const others = await startProblems(given, start);
  try {
    loadConfig(given, directory(), others);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => problem.replace(/:.*/s, '')).sort();
  }
}

/** A file for each of these variables, which holds what none of them should. */
function filesOf(...variables: string[]): Variables {
  const folder = directory();
  const files = variables.map((name): [string, string] => [name, path.join(folder, name)]);
  for (const [, file] of files) writeFileSync(file, 'nothing of use', { mode: 0o600 });
  return Object.fromEntries(files);
}

test('one of several control planes that was told nothing names all that it needs', async () => {
  expect(await named({}, SEVERAL)).toEqual(['MESH_BUS_LISTEN', 'MESH_KEYS_FILE', 'MESH_STORE_URL']);
});

test('what is forgotten is named beside what has a wrong form', async () => {
  const given = { MESH_BUS_URL: 'http://bus', MESH_LISTEN: 'everywhere', MESH_TLS_KEY: '/nonexistent' };
  expect(await named(given, SEVERAL)).toEqual(
    [
      'MESH_BUS_URL',
      'MESH_KEYS_FILE',
      'MESH_LISTEN',
      'MESH_STORE_URL',
      'MESH_TLS_CERT, MESH_TLS_KEY',
      'MESH_TLS_KEY',
    ].sort(),
  );
});

test('what files hold that should not be there is named all at once, and beside what has a wrong form', async () => {
  const files = filesOf('MESH_KEYS_FILE', 'MESH_TLS_CERT', 'MESH_TLS_KEY', 'MESH_BUS_KEYS_FILE', 'MESH_BUS_CA');
  const given = {
    ...files,
    MESH_STORE_URL: 'mongodb://db:27017:1/mesh',
    MESH_BUS_URL: 'tls://bus:4222',
    MESH_SIGNALING_AUTH: 'token',
    MESH_EDITION: 'gold',
  };
  expect(await named(given, SEVERAL)).toEqual(
    [
      'MESH_BUS_CA',
      'MESH_BUS_KEYS_FILE',
      'MESH_EDITION',
      'MESH_KEYS_FILE',
      'MESH_STORE_URL',
      'MESH_TLS_CERT, MESH_TLS_KEY',
    ].sort(),
  );
  const creds = { MESH_BUS_URL: 'nats://bus:4222', ...filesOf('MESH_BUS_CREDS') };
  expect(await named(creds, ALONE)).toEqual(['MESH_BUS_CREDS']);
});

test('what is wrong with the address of a database is said without what may be a password in it', async () => {
  const [problem] = await startProblems({ MESH_STORE_URL: 'mongodb://me:hunter2@db:1:2/mesh' }, ALONE);
  expect(problem).toMatch(/^MESH_STORE_URL: the address of MongoDB cannot be read: /);
  expect(problem).not.toContain('hunter2');
});

test('a file of keys that is to be left out is not looked at', async () => {
  const problems = await startProblems(filesOf('MESH_KEYS_FILE'), ALONE);
  expect(problems).toEqual([expect.stringMatching(/^MESH_KEYS_FILE: is for control planes that share a store/)]);
});

test.each([
  ['relay', { MESH_RELAY_LISTEN: 'off' }, ['MESH_HEALTH_LISTEN', 'MESH_LRP_AUTH_TOKEN', 'MESH_RELAY_LISTEN']],
  ['bus', { MESH_SIGNALING_AUTH: 'token' }, ['MESH_HEALTH_LISTEN', 'MESH_SIGNALING_AUTH']],
  ['stun', {}, ['MESH_HEALTH_LISTEN']],
] as const)('a %s alone names all that is wrong with it at once', async (part, env, expected) => {
  const given = { MESH_HEALTH_LISTEN: 'nowhere', ...env };
  expect(await named(given, { part, standalone: false })).toEqual(expected);
});

test('a control plane with a store of its own needs nothing', async () => {
  expect(await named({}, ALONE)).toEqual([]);
  expect(await named({ MESH_STORE_URL: 'sqlite:mesh.db' }, ALONE)).toEqual([]);
  expect(await named({ MESH_STORE_URL: 'mongodb://db1,db2/mesh?replicaSet=rs0' }, ALONE)).toEqual([]);
});
