import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { build } from 'vite';
import { CLIENT_FILES, CLIENTS, entryOf, groupOf, SIGN_IN } from '../cli/mcp-entry.ts';
import { peerColumns } from '../core/views/peer-view.ts';
import { openApiDocument } from '../rest/openapi.ts';
import { operations } from '../tools/index.ts';
import { buildDocs, docsEntries } from './build-docs.ts';
import { buildViews } from './build-views.ts';
import { iconsLicense, iconsModule } from './icons.ts';

/**
 * Builds the dashboard, the views of MCP clients and the documentation into `web/dist/`, with the types of the API from its own
 * OpenAPI document and what it shares with the command line.
 */
const WEB = import.meta.dirname;
const BUILT = path.join(WEB, 'dist');
/** What is there is served until all that replaces it is built. */
const BEING_BUILT = path.join(BUILT, '.part');
const SCHEMA = path.join(WEB, 'src', 'api', 'schema.d.ts');
const MCP_CLIENTS = path.join(WEB, 'src', 'api', 'mcp-clients.json');
const ICONS = path.join(WEB, 'src', 'design', 'icons.ts');
const DOCS_ENTRIES = path.join(WEB, 'src', 'docs', 'entries.json');
const LICENSES = 'licenses.md';
const PEER_COLUMNS = path.join(WEB, 'src', 'api', 'peer-columns.json');

const document = JSON.parse(JSON.stringify(openApiDocument(operations, 'built')), asJson);
const types = astToString(
  await openapiTS(document, { alphabetize: true, defaultNonNullable: false, transform: anyJson }),
);
await writeChanged(SCHEMA, types);
await writeChanged(MCP_CLIENTS, `${JSON.stringify(CLIENTS.map(mcpClient), null, 2)}\n`);
await writeChanged(ICONS, iconsModule());
await writeChanged(DOCS_ENTRIES, `${JSON.stringify(await docsEntries())}\n`);
await writeChanged(PEER_COLUMNS, `${JSON.stringify(peerColumns, null, 2)}\n`);
// The manifest says which files each page reads, for those who count them. It is not served.
await build({
  root: WEB,
  configFile: path.join(WEB, 'vite.config.ts'),
  logLevel: 'warn',
  build: {
    manifest: true,
    // Whoever hands the dashboard on hands on the terms of what is built into it.
    license: { fileName: LICENSES },
    outDir: BEING_BUILT,
    emptyOutDir: true,
    rolldownOptions: { input: ['index.html', 'docs.html'].map((page) => path.join(WEB, page)) },
  },
});
await appendFile(path.join(BEING_BUILT, LICENSES), `\n${iconsLicense()}`);
await buildDocs(BEING_BUILT);
await buildViews(path.join(BEING_BUILT, 'views'));
await replace(BUILT, BEING_BUILT);

/** File by file, what a page names before the page, so that a control plane that starts meanwhile finds one of the two whole. */
async function replace(folder: string, replacement: string): Promise<void> {
  const files = await filesIn(replacement);
  for (const file of files.toSorted((a, b) => Number(a === 'index.html') - Number(b === 'index.html'))) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await rename(path.join(replacement, file), path.join(folder, file));
  }
  await rm(replacement, { recursive: true });
  const left = (await filesIn(folder)).filter((file) => !files.includes(file));
  for (const file of left) await rm(path.join(folder, file));
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

/** The page asks for JSON alone: other forms of an answer are left out of its types. */
function asJson(key: string, value: unknown): unknown {
  const isForms = key === 'content' && typeof value === 'object' && value !== null && 'application/json' in value;
  return isForms ? { 'application/json': value['application/json'] } : value;
}

/** The type of any JSON contains itself, which declarations of this form cannot say. */
function anyJson(_schema: unknown, { path: place }: { readonly path?: string | undefined }): ts.TypeNode | undefined {
  if (!place?.endsWith('/JsonValue')) return undefined;
  return ts.factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword);
}

/** How a client is told of a control plane, as `mesh mcp config` writes it, with places for what differs. */
function mcpClient(client: (typeof CLIENTS)[number]) {
  const access = { server: 'http://server', token: '{token}', workspace: '{workspace}', launcher: 'mesh' };
  const entry = JSON.stringify(entryOf(client, access)).replaceAll('http://server', '{server}');
  const signIn = SIGN_IN[client];
  return {
    client,
    group: groupOf(client),
    entry: JSON.parse(entry),
    ...CLIENT_FILES[client],
    ...(signIn && { signIn }),
  };
}

async function writeChanged(file: string, text: string): Promise<void> {
  const before = await readFile(file, 'utf8').catch(() => undefined);
  if (text === before) return;
  await writeFile(`${file}.part`, text);
  await rename(`${file}.part`, file);
}
