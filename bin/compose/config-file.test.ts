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
