import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { run } from '../kits/process/run-command.ts';

const TEST = path.resolve(import.meta.dirname, '..');
const VITEST = path.resolve('node_modules/vitest/vitest.mjs');
const PLANTED = {
  passed: "test('passed', () => verifies('bus-open'));",
  failed: "test('failed', () => { verifies('login'); throw new Error('planted'); });",
  skipped: "test.skip('skipped', () => verifies('discovery'));",
};

const root = mkdtempSync(path.join(tmpdir(), 'mesh-tiers-'));
const records = path.join(root, 'records');
mkdirSync(records);
for (const [name, text] of Object.entries(PLANTED)) {
  const imports = `import { verifies } from '${TEST}/verifies.ts';\n`;
  writeFileSync(path.join(root, `${name}.test.ts`), `${imports}${text}\n`);
}
afterAll(() => rmSync(root, { recursive: true, force: true }));

const vitest = (file: string, env: Readonly<Record<string, string>>) =>
  run(process.execPath, [VITEST, 'run', '--globals', '--root', root, '--reporter', `${TEST}/tier-reporter.ts`, file], {
    env,
  });

test('a requirement is shown by a test that ran and passed, in whichever tier, and by no other', async () => {
  const env = { MESH_TEST_RECORDS: records };
  const codes: number[] = [];
  for (const name of Object.keys(PLANTED)) codes.push((await vitest(name, env)).code);
  expect(codes).toEqual([0, 1, 0]);
  const shown = readdirSync(records).map((file) => JSON.parse(readFileSync(path.join(records, file), 'utf8')));
  expect(Object.assign({}, ...shown)).toEqual({ 'bus-open': ['passed.test.ts: passed'] });

  const { code, stderr } = await run(process.execPath, [path.join(TEST, 'unshown-requirements.ts'), records]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('\nlogin: ')]);
  expect(stderr).toContain('\ndiscovery: ');
  expect(stderr).not.toContain('bus-open');
});

test('on CI a skipped test fails the run, which names its file', async () => {
  const { code, stderr } = await vitest('skipped', { CI: 'true' });
  expect([code, stderr]).toEqual([1, expect.stringContaining('skipped.test.ts')]);
});
