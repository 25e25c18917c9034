import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Override {
  readonly includes: readonly string[];
  readonly linter: { readonly rules: { readonly style?: { readonly noRestrictedImports?: Restricted } } };
}
interface Restricted {
  readonly options: { readonly patterns: readonly { readonly group: readonly string[] }[] };
}

const { overrides } = JSON.parse(readFileSync('biome.json', 'utf8')) as { overrides: readonly Override[] };
const folderOf = (glob: string) => glob.split('/')[0] ?? '';
/** Of which files a boundary is: `core`, `web/src`. */
const guardedBy = (glob: string) => glob.replace(/\/\*\*.*$/, '');

/** A line for each import that a boundary names, in a file it guards: a pattern that cannot fail guards nothing. */
const imports = overrides.flatMap(({ includes, linter }) => {
  const folder = guardedBy(includes[0] ?? '');
  const groups = linter.rules.style?.noRestrictedImports?.options.patterns ?? [];
  return groups
    .flatMap(({ group }) => group)
    .filter((pattern) => !pattern.startsWith('!'))
    .map((pattern): [folder: string, source: string] => [folder, `import '${targetOf(pattern)}';`]);
});

/** Lines that only core refuses: it has no clock, no timer, no network and no environment of its own. */
const globals: [folder: string, source: string][] = [
  ['core', 'export const now = () => Date.now();'],
  ['core', 'export const later = (run: () => void) => setTimeout(run, 1);'],
  ['core', 'export const often = (run: () => void) => setInterval(run, 1);'],
  ['core', "export const ask = () => fetch('http://127.0.0.1');"],
  ['core', 'export const env = () => process.env;'],
];

/** Lines that the boundaries let pass, so that they refuse for a reason. */
const allowed: [folder: string, source: string][] = [
  ['core', "import 'node:crypto';"],
  ['core', "import 'zod';"],
  ['net', "import '../../core/base/ports.ts';"],
  ['net', "import '../../platform/platform.ts';"],
  ['client', "import '../../platform/platform.ts';"],
  ['platform', "import '../../core/base/ports.ts';"],
  ['platform', "import 'koffi';"],
  ['storage', "import '../../core/base/ports.ts';"],
  ['tools', "import '../../core/base/ports.ts';"],
  ['rest', "import '../../core/base/ports.ts';"],
  ['mcp', "import '../../core/base/ports.ts';"],
  ['plane', "import '../../core/base/ports.ts';"],
  ['bin', "import '../../rest/app.ts';"],
  ['web/src', "import './page.ts';"],
];

const numbered = (lines: readonly [string, string][], kind: string) =>
  lines.map(([folder, source], index) => [`${folder}/deep/${kind}${index}.ts`, source] as const);
const forbidden = [...numbered(imports, 'import'), ...numbered(globals, 'global')];
const harmless = numbered(allowed, 'allowed');

/** What an import that a pattern means looks like from a file two folders deep. */
function targetOf(pattern: string): string {
  if (pattern.endsWith('.ts')) return pattern.replace('**', '../..').replaceAll('**', 'deep');
  if (pattern.startsWith('**/')) return `../../${pattern.slice(3).replace('**', 'deep/a.ts')}`;
  return pattern.replace('node:*', 'node:fs').replace('*', 'server');
}

describe('the boundaries of biome.json', () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'boundaries-'));
  const refused = new Set<string>();
  afterAll(() => rmSync(scratch, { recursive: true }));

  beforeAll(async () => {
    cpSync('biome.json', path.join(scratch, 'biome.json'));
    for (const [file, source] of [...forbidden, ...harmless]) {
      mkdirSync(path.dirname(path.join(scratch, file)), { recursive: true });
      writeFileSync(path.join(scratch, file), `${source}\n`);
    }
    for (const { category, location } of await lint(scratch)) {
      if (/noRestricted(Imports|Globals)$/.test(category)) refused.add(fileOf(location.path));
    }
  }, 60_000);

  test.each(forbidden)('refuse in %s: %s', (file) => {
    expect([...refused]).toContain(file);
  });

  test.each(harmless)('let pass in %s: %s', (file) => {
    expect([...refused]).not.toContain(file);
  });
});

test('every source folder has a boundary', () => {
  const bounded = new Set(overrides.flatMap(({ includes }) => includes).map(folderOf));
  const folders = readdirSync('.', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(\.|(node_modules|dist)$)/.test(entry.name))
    .map(({ name }) => name);
  expect(folders.filter((name) => !bounded.has(name))).toEqual([]);
});

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: unknown };
}

async function lint(directory: string): Promise<readonly Diagnostic[]> {
  const biome = path.resolve('node_modules/.bin/biome');
  const args = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none'];
  const run = promisify(execFile)(biome, args, { cwd: directory, maxBuffer: 64 * 2 ** 20 });
  // It ends with 1 when it finds something, which is what is wanted here.
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return (JSON.parse(stdout) as { diagnostics: readonly Diagnostic[] }).diagnostics;
}

function fileOf(location: unknown): string {
  const file = typeof location === 'string' ? location : ((location as { file?: string } | null)?.file ?? '');
  return file.replace(/^\.\//, '');
}
