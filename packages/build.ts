import { execFileSync } from 'node:child_process';
import { appendFile, copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'vite';

/**
 * Builds a package beside the main one into `packages/NAME/dist/`: one file of code with all that it needs, declarations that need
 * nothing else, and the terms of what is built in. The types of the API are those of the dashboard (`npm run build`).
 */
const ROOT = path.resolve(import.meta.dirname, '..');
const MODULES = path.join(ROOT, 'node_modules');
const LICENSES = 'licenses.md';
/** By package, the files that are declared. Their functions name their types, so that each is declared by itself. */
const DECLARED = new Map([
  ['client', ['index', 'api', 'problem']],
  ['policy', ['index', 'api', 'policy-error']],
]);
/** Where declarations that are not a package's own stand beside those that name them. */
const PLACES = [
  ['../../web/src/api/schema.d.ts', './schema.js'],
  ['openapi-fetch', './openapi-fetch.js'],
  ['openapi-typescript-helpers', './openapi-typescript-helpers.js'],
] as const;

const [name = ''] = process.argv.slice(2);
const declared = DECLARED.get(name);
if (!declared) throw new Error(`Name a package: ${[...DECLARED.keys()].join(' or ')}.`);
const folder = path.join(import.meta.dirname, name);
const dist = path.join(folder, 'dist');
await bundle();
declare(declared);
if (name === 'client') await addOthers();
for (const file of await readdir(dist)) if (file.endsWith('.d.ts')) await relink(path.join(dist, file));
await copyFile(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));

async function bundle(): Promise<void> {
  await build({
    root: folder,
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: dist,
      emptyOutDir: true,
      target: 'es2023',
      license: { fileName: LICENSES },
      lib: { entry: 'index.ts', formats: ['es'], fileName: 'index' },
      rolldownOptions: { output: { minify: true } },
    },
  });
}

function declare(files: readonly string[]): void {
  const flags = ['ignoreConfig', 'declaration', 'emitDeclarationOnly', 'isolatedDeclarations', 'noCheck', 'noResolve'];
  const syntax = ['strict', 'verbatimModuleSyntax', 'rewriteRelativeImportExtensions'];
  const places = ['--module', 'nodenext', '--target', 'esnext', '--rootDir', folder, '--outDir', dist];
  const sources = files.map((file) => path.join(folder, `${file}.ts`));
  const args = [...[...flags, ...syntax].map((flag) => `--${flag}`), ...places, ...sources];
  execFileSync(path.join(MODULES, '.bin/tsc'), args, { stdio: 'inherit' });
}

/** The types that the client names, with their terms; the code of `openapi-fetch` has its own there already. */
async function addOthers(): Promise<void> {
  await copyFile(path.join(ROOT, 'web/src/api/schema.d.ts'), path.join(dist, 'schema.d.ts'));
  for (const other of ['openapi-fetch', 'openapi-typescript-helpers'])
    await copyFile(path.join(MODULES, other, 'dist/index.d.mts'), path.join(dist, `${other}.d.ts`));
  const helpers = path.join(MODULES, 'openapi-typescript-helpers');
  const { version } = JSON.parse(await readFile(path.join(helpers, 'package.json'), 'utf8'));
  const terms = await readFile(path.join(helpers, 'LICENSE'), 'utf8');
  await appendFile(path.join(dist, LICENSES), `\n## openapi-typescript-helpers - ${version} (MIT)\n\n${terms}`);
}

async function relink(file: string): Promise<void> {
  const own = (declared ?? []).map((other) => [`./${other}.ts`, `./${other}.js`] as const);
  let text = await readFile(file, 'utf8');
  for (const [from, to] of [...PLACES, ...own])
    for (const quote of ["'", '"']) text = text.replaceAll(`${quote}${from}${quote}`, `${quote}${to}${quote}`);
  await writeFile(file, text);
}
