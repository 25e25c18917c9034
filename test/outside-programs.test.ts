import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sourceFiles } from './kits/source-files.ts';
import { outsidePrograms } from './outside-programs.ts';

const tools = new Set(readFileSync('.ci/posix-tools', 'utf8').trim().split('\n'));
/** The tests that `npm test` runs, and what they share with nothing but them. */
const files = sourceFiles().filter(
  (file) => /\.(?:test|testkit)\.ts$/.test(file) && !/\.(?:lab|web|servers)\.test\.ts$/.test(file),
);

test.each([
  ["spawn('curl', ['-sS'])", ['curl']],
  ["promisify(execFile)('git', ['ls-files'])", ['git']],
  ["const out = execSync('unzip -t a.zip')", ['unzip']],
  ["await run('bash', ['-c', 'true'])", ['bash']],
  ["test.skipIf(!isInstalled('openssl'))('a', () => {})", ['openssl']],
  ["import { onTerminal } from '../kits/process/pseudo-terminal.ts'", ['test/kits/process/pseudo-terminal.ts']],
  ["spawnSync('sh', ['-c', 'exit'])", []],
  ["run('/bin/anything', [])", []],
  ["spawn(process.execPath, ['a.ts'])", []],
  ["run('peers', '--json')", []],
  ["database.exec('SELECT 1')", []],
])('a test with %s starts beyond Node and the POSIX tools: %j', (code, programs) => {
  expect(outsidePrograms('test/scenarios/a.test.ts', code, tools)).toEqual(programs);
});

test('npm test needs no program but Node and the POSIX tools', () => {
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) =>
    outsidePrograms(file, readFileSync(file, 'utf8'), tools).map((program) => `${file}: ${program}`),
  );
  expect(found).toEqual([]);
});

test('the files of the sources are listed without Git, and nothing that an install or a build makes', () => {
  const all = sourceFiles();
  expect(all).toEqual(expect.arrayContaining(['.ci/run', 'package.json', 'core/base/ids.ts', 'web/src/api/client.ts']));
  const made = /(^|\/)(node_modules|dist|\.git)\/|schema\.d\.ts$|package-lock\.json$/;
  expect(all.filter((file) => made.test(file))).toEqual([]);
});
