import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { notesOf } from './notes.ts';

/**
 * Makes what a release hands out: `npm run release [-- --dry-run] [--out DIR]`. It writes the packages, their bills of materials
 * (CycloneDX), the notes and the checksums into a new folder, publishes nothing, and ends with the commands that do. With
 * `--dry-run` it goes on where the checkout is not ready, and says why.
 */
const ROOT = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, out: { type: 'string', default: 'release' } },
});
const out = path.resolve(values.out);
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The packages, the main one first, each with where the terms of what is built into it stand. */
const PACKAGES = [
  { folder: '.', licenses: 'web/dist/licenses.md' },
  { folder: 'packages/client', licenses: 'packages/client/dist/licenses.md' },
  { folder: 'packages/policy', licenses: 'packages/policy/dist/licenses.md' },
].map((one) => ({ ...one, manifest: JSON.parse(read(path.join(one.folder, 'package.json'))) as Manifest }));
const { name, version } = PACKAGES[0]?.manifest ?? { name: '', version: '' };
const notes = notesOf(read('CHANGELOG.md'), version);

const obstacles = [
  !notes.isReleased && `CHANGELOG.md has no section ${version}: give "## Unreleased" that heading.`,
  ...PACKAGES.map(({ folder, manifest }) => manifest.private && isPrivate(folder, manifest)),
  run('git', ['status', '--porcelain']) !== '' && 'There are changes that are not committed.',
  run('git', ['tag', '--list', `v${version}`]) !== '' && `The tag v${version} exists: raise the version.`,
].filter((obstacle) => typeof obstacle === 'string');
for (const obstacle of obstacles) console.error(`Not ready: ${obstacle}`);
if (obstacles.length > 0 && !values['dry-run']) process.exit(1);

mkdirSync(out, { recursive: true });
if (readdirSync(out).length > 0) {
  console.error(`${out} is not empty: remove it, or name another folder with --out.`);
  process.exit(1);
}
const archives = PACKAGES.map(({ folder, licenses, manifest }) => {
  const before = new Set(readdirSync(out));
  run('npm', ['pack', '--silent', '--pack-destination', out], path.join(ROOT, folder));
  const [archive = ''] = readdirSync(out).filter((file) => !before.has(file));
  write(archive.replace('.tgz', '.cdx.json'), billOfMaterials(manifest, licenses));
  return archive;
});
write('RELEASE-NOTES.md', notes.text);
const files = readdirSync(out).sort();
write('SHA256SUMS', files.map((file) => `${digestOf(file)}  ${file}\n`).join(''));

console.log(`${out} has what ${name} ${version} hands out: ${files.join(', ')}, SHA256SUMS.`);
if (obstacles.length === 0)
  console.log(`
From a checkout of the same commit, with an account at the registry:

  git tag --annotate v${version} --file ${path.join(out, 'RELEASE-NOTES.md')} && git push origin v${version}
${archives.map((archive) => `  npm publish ${path.join(out, archive)} --access public --provenance`).join('\n')}`);

function isPrivate(folder: string, manifest: Manifest): string {
  const file = path.join(folder, 'package.json');
  return `${file} is private: put the scope of your account into ${manifest.name}, and take "private" out.`;
}

/** What npm installs with a package on any platform, and what is built into it. */
function billOfMaterials({ name, version, license, dependencies: own }: Manifest, licenses: string): string {
  const builtIn = read(licenses).matchAll(/^## (\S+) - (\S+) /gm);
  const dependencies = { ...own, ...Object.fromEntries([...builtIn].map(([, ...entry]) => entry)) };
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-bill-'));
  try {
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version, license, dependencies }));
    run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'], folder);
    const bill = JSON.parse(run('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], folder));
    // npm calls it after the folder.
    Object.assign(bill.metadata.component, { name });
    return `${JSON.stringify(bill, null, 2)}\n`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(command: string, args: readonly string[], cwd = ROOT): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

function write(file: string, text: string): void {
  writeFileSync(path.join(out, file), text);
}

function digestOf(file: string): string {
  return createHash('sha256')
    .update(readFileSync(path.join(out, file)))
    .digest('hex');
}
