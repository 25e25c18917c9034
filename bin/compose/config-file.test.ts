import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from './config.ts';

test.each([
  [
    'a directory',
    (file: string) => mkdirSync(file),
    /config\.yaml is a directory and has to be a file: move it away\./,
  ],
  [
    'no YAML',
    (file: string) => writeFileSync(file, 'app: [\n'),
    /config\.yaml is no YAML: .* \(line 2, .*\. Correct it/,
  ],
])('a configuration file that is %s is named with what to do', (_what, make, text) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-config-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  make(path.join(directory, 'config.yaml'));
  expect(() => loadConfig({}, directory)).toThrow(text);
  expect(() => loadConfig({}, directory)).not.toThrow(/EISDIR/);
});

test('variables and fields that are wrong are told in plain words, with what is right', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-config-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(path.join(directory, 'config.yaml'), 'app:\n  relayz: []\n  stun: 7\n');
  const load = () => loadConfig({ MESH_EDITION: 'gold' }, directory);
  expect(load).toThrow(/MESH_EDITION: Must be one of pro, community\./);
  expect(load).toThrow(/config\.yaml app\.stun: Must be a list\./);
  expect(load).toThrow(/config\.yaml app\.relayz: There is no such field: did you mean relays\?/);
});

test.each(['иван@почта.рф', '-admin', ' '])('an initial admin cannot be called %j', (username) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-config-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const admin = JSON.stringify({ username, password: 'a configured password' });
  writeFileSync(path.join(directory, 'config.yaml'), `app:\n  initAdmins: [${admin}]\n`, { mode: 0o600 });
  expect(() => loadConfig({}, directory)).toThrow(/app\.initAdmins\.0\.username: must be 1 to 63 of a-z/);
});
