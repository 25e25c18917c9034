import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configure } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { commandBlock } from '../kits/process/page-blocks.ts';
import { hasTerminal } from '../kits/process/pseudo-terminal.ts';
import { runAsWritten } from '../kits/process/reader.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PACKING_MS = 600_000;
const FIRST_CHANGE = [1, 2, 3].map((count) => `README.md: The first change ${count}`);
/** Of an installation, with all that it depends on. */
const MOST_MEGABYTES = 150;

/** Git does not see what is built. */
const LEFT_BEHIND = 'left-behind.txt';

let home: string;
let out: string;

beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-release-'));
  out = path.join(home, 'out');
  writeFileSync(path.join(ROOT, 'web/dist', LEFT_BEHIND), 'of another commit');
  execFileSync('npm', ['run', '--silent', 'release', '--', '--dry-run', '--out', out], { cwd: ROOT, stdio: 'pipe' });
}, PACKING_MS);
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Of the main package, unless another is named. */
function handedOut(ending: string, { name, version } = packageJson()): string {
  return path.join(out, `${name.replace('@', '').replace('/', '-')}-${version}${ending}`);
}
const packageJson = (folder = '') => JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8'));
const PACKAGES = ['packages/client', 'packages/policy'];

describe.skipIf(!hasTerminal)('what a release hands out', () => {
  test('has checksums of all of it, and notes', () => {
    const checked = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' });
    expect(checked.trim().split('\n').toSorted()).toEqual(
      readdirSync(out)
        .filter((file) => file !== 'SHA256SUMS')
        .map((file) => `${file}: OK`)
        .toSorted(),
    );
    expect(readFileSync(path.join(out, 'RELEASE-NOTES.md'), 'utf8')).toMatch(/^# Mesh \d+\.\d+\.\d+\n\n### /);
  });

  test('has a bill of materials with each dependency, in the version that is installed, and its license', () => {
    const bill = JSON.parse(readFileSync(handedOut('.cdx.json'), 'utf8'));
    const { name, version, dependencies } = packageJson();
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name, version } } });
    const versions = new Map(bill.components.map((one: { name: string; version: string }) => [one.name, one.version]));
    for (const [dependency, pinned] of Object.entries(dependencies)) expect(versions.get(dependency)).toBe(pinned);
    const unlicensed = bill.components.filter(({ licenses }: { licenses?: object[] }) => !licenses?.length);
    expect(unlicensed).toEqual([]);
  });

  test.each(PACKAGES)('has %s, with a bill of materials that names what is built into it', (folder) => {
    const { name, version, devDependencies } = packageJson(folder);
    const bill = JSON.parse(readFileSync(handedOut('.cdx.json', { name, version }), 'utf8'));
    expect(bill.metadata.component).toMatchObject({ name, version });
    const versions = new Map(bill.components.map((one: { name: string; version: string }) => [one.name, one.version]));
    for (const [dependency, pinned] of Object.entries(devDependencies)) expect(versions.get(dependency)).toBe(pinned);
    const files = execFileSync('tar', ['-tzf', handedOut('.tgz', { name, version })], { encoding: 'utf8' });
    expect(files.trim().split('\n')).toEqual(
      expect.arrayContaining(
        ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts'].map((file) => `package/${file}`),
      ),
    );
  });

  test('has the dashboard of the commit, and nothing of one that was built before', () => {
    const files = execFileSync('tar', ['-tzf', handedOut('.tgz')], { encoding: 'utf8' });
    expect(files).toContain('package/dist/web/dist/index.html');
    expect(files).not.toContain(LEFT_BEHIND);
  });

  test('has the terms of every package that is built into the dashboard', () => {
    const list = execFileSync('tar', ['-xzOf', handedOut('.tgz'), 'package/dist/web/dist/licenses.md'], {
      encoding: 'utf8',
    });
    const named = [...list.matchAll(/^## (\S+) - /gm)].map(([, name]) => name);
    for (const name of ['preact', '@preact/signals', '@codemirror/view', '@fontsource-variable/inter', 'lucide-static'])
      expect(named).toContain(name);
  });

  test(
    'is installed by npm alone, and reaches the first approved change as the README says',
    async () => {
      const project = path.join(home, 'project');
      execFileSync('mkdir', [project]);
      writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
      execFileSync('npm', ['install', '--no-audit', '--no-fund', handedOut('.tgz')], { cwd: project, stdio: 'pipe' });
      const size = execFileSync('du', ['-sm', path.join(project, 'node_modules')], { encoding: 'utf8' });
      expect(Number.parseInt(size, 10)).toBeLessThanOrEqual(MOST_MEGABYTES);

      const bin = path.join(project, 'node_modules', '.bin');
      const directory = freshDirectory();
      configure(directory, {});
      const meshd = startMeshd({ directory, command: [path.join(bin, 'meshd'), '--standalone'] });
      try {
        const commands = FIRST_CHANGE.map((block) => commandBlock(block).text.replaceAll('bin/mesh', 'mesh'));
        const { code, shown } = await runAsWritten([`PATH=${bin}:$PATH`, ...commands].join('\n'), await meshd.ready());
        expect(code, shown).toBe(0);
        expect(shown).toContain('laptop may not reach db-1.');
      } finally {
        await meshd.stop();
      }
    },
    PACKING_MS,
  );
});
