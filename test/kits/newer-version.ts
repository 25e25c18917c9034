import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** What no control plane reads. */
const LEFT_OUT = new Set(['node_modules', '.git', 'test', 'docs', 'bench', 'evals', 'dist', 'coverage']);
const LAST_STEP = /(const MIGRATIONS[^;]*?)\n\];/;
/** One index more, which is of no kind that this version knows. */
const AN_INDEX = ['  checkpoints: [],', "  checkpoints: [{ name: 'size', key: { '_id.ws': 1, size: 1 } }],"] as const;

export interface NewerVersion {
  /** Where its launchers are. */
  readonly bin: string;
  remove(): void;
}

/** This tree as the next version will be: another number, and one step of the schema of MongoDB more. */
export function newerVersion({ isAdditive }: { readonly isAdditive: boolean }): NewerVersion {
  const root = mkdtempSync(path.join(tmpdir(), 'mesh-newer-'));
  for (const name of readdirSync(ROOT).filter((each) => !LEFT_OUT.has(each)))
    cpSync(path.join(ROOT, name), path.join(root, name), {
      recursive: true,
      filter: (file) => !file.includes('node_modules'),
    });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  edit(path.join(root, 'package.json'), /"version": "[^"]+"/, '"version": "99.0.0"');
  const schema = path.join(root, 'storage/mongo/schema.ts');
  edit(schema, LAST_STEP, `$1\n  { bring: createCollections, isAdditive: ${isAdditive} },\n];`);
  edit(schema, ...AN_INDEX);
  return { bin: path.join(root, 'bin'), remove: () => rmSync(root, { recursive: true, force: true }) };
}

function edit(file: string, what: RegExp | string, by: string): void {
  const before = readFileSync(file, 'utf8');
  const after = before.replace(what, by);
  if (after === before) throw new Error(`${file} has nothing to replace: ${what}`);
  writeFileSync(file, after);
}
