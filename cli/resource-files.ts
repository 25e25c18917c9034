import { lstat, opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { YamlError } from '../core/base/ports.ts';
import type { FileResource } from '../core/history/export.ts';
import type { FileKind } from '../core/model/file-records.ts';
import { NAME_PATTERN } from '../core/model/resources.ts';
import { toYaml } from '../core/views/render-yaml.ts';
import { parseYaml } from '../tools/yaml.ts';
import { CliError, EXIT } from './exit.ts';
import { readText } from './operation-options.ts';

/** The folder of each kind in an export. */
export const FOLDERS = {
  MeshNetwork: 'networks',
  MeshPeer: 'peers',
  MeshPolicy: 'policies',
  WorkloadRule: 'workload-rules',
} as const satisfies Readonly<Record<FileKind, string>>;

/** In a directory that `mesh export` wrote: it may write there again, and the files say all there is. */
export const MARKER = '.mesh-export';

/** Device names of Windows, which no file there has, whatever follows a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/;

/**
 * The file of a resource below the directory of an export. Names differ in more than their case, and their files too: some
 * file systems know no other difference. None is hidden, an option of a command or a device.
 *
 * @throws CliError for a name that the control plane cannot have
 */
export function fileOf({ kind, metadata: { name } }: Pick<FileResource, 'kind' | 'metadata'>): string {
  if (!NAME_PATTERN.test(name))
    throw new CliError(`${JSON.stringify(name)} is no name of a resource.`, EXIT.unavailable);
  const folded = name.toLowerCase();
  // No name has a percent sign, so that none comes to the name of another.
  const isPlain = /^[a-z0-9_]/.test(folded) && !DEVICE.test(folded);
  const file = isPlain ? folded : `%${folded.charCodeAt(0).toString(16)}${folded.slice(1)}`;
  return `${FOLDERS[kind]}/${file}.yaml`;
}

/** The files of an export, by their place in it. */
export function filesOf(resources: readonly FileResource[]): Map<string, string> {
  return new Map(resources.map((resource) => [fileOf(resource), toYaml(resource)]));
}

/** Documents, each with the place that messages name it by. */
export interface Documents {
  readonly documents: readonly unknown[];
  readonly places: readonly string[];
  /** True if they are all documents of a directory that `mesh export` wrote. */
  readonly isExport: boolean;
}

/** More are no network's. */
const MAX_FILES = 20_000;

/**
 * The documents of a file, of standard input (`-`), or of the YAML and JSON files of a directory in the order of their
 * names. Hidden files are passed over and links in it are not followed: they may lead anywhere.
 *
 * @param saysAll whether what the directory does not hold is pruned, so that it has no link to more of it
 * @param mayBeEmpty whether a directory without files says that there is nothing; else it is taken for a wrong one
 * @throws CliError also for a file of a directory that holds no document: pruning would delete what it held
 */
export async function readDocuments(
  from: string,
  { saysAll = false, mayBeEmpty = false } = {},
): Promise<Documents & { readonly isDirectory: boolean }> {
  const isDirectory = from !== '-' && (await isDirectoryAt(from));
  if (!isDirectory) {
    const read = [[from, documentsOf(from, await readText(from))]] as const;
    return { ...joinedDocuments(read), isExport: false, isDirectory };
  }
  const names = await filesBelow(from, saysAll);
  if (names.length === 0 && !mayBeEmpty) throw new CliError(`${from} has no YAML or JSON files.`, EXIT.input);
  const texts: [string, string][] = [];
  for (const name of names) texts.push([name, await readText(path.join(from, name))]);
  const read = texts.map(([name, text]) => [name, documentsOf(name, text)] as const);
  requireNoneEmpty(read);
  return { ...joinedDocuments(read), isExport: await isThere(path.join(from, MARKER)), isDirectory };
}

async function isDirectoryAt(place: string): Promise<boolean> {
  try {
    // A link that was named oneself is meant.
    return (await lstat(path.join(place, '.'))).isDirectory();
  } catch {
    return false;
  }
}

async function leadsToDirectory(link: string): Promise<boolean> {
  return stat(link).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

export async function isThere(place: string): Promise<boolean> {
  return lstat(place).then(
    () => true,
    () => false,
  );
}

const ENDINGS = ['.yaml', '.yml', '.json'];

async function filesBelow(directory: string, saysAll: boolean, below = ''): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of await opendir(path.join(directory, below))) {
    if (entry.name.startsWith('.')) continue;
    const name = path.posix.join(below, entry.name);
    const hasEnding = ENDINGS.includes(path.extname(entry.name));
    if (entry.isDirectory()) found.push(...(await filesBelow(directory, saysAll, name)));
    else if (entry.isFile() && hasEnding) found.push(name);
    else if (saysAll && entry.isSymbolicLink() && (hasEnding || (await leadsToDirectory(path.join(directory, name))))) {
      throw new CliError(
        `${name} is a link, which is not followed: --prune would delete what it leads to.`,
        EXIT.input,
      );
    }
    if (found.length > MAX_FILES) throw new CliError(`${directory} has more than ${MAX_FILES} files.`, EXIT.input);
  }
  return found.sort();
}

type ReadFile = readonly [name: string, documents: readonly unknown[]];

function requireNoneEmpty(files: readonly ReadFile[]): void {
  const empty = files.flatMap(([name, { length }]) => (length === 0 ? [name] : []));
  if (empty.length === 0) return;
  const more = empty.length > MAX_NAMED ? ` and ${empty.length - MAX_NAMED} more` : '';
  const message =
    empty.length === 1
      ? `${empty[0]} holds no document: delete the file, or give it one.`
      : `These files hold no document: ${empty.slice(0, MAX_NAMED).join(', ')}${more}. Delete them, or give each one.`;
  throw new CliError(message, EXIT.input);
}

/** Files that one message names. */
const MAX_NAMED = 20;

function joinedDocuments(files: readonly ReadFile[]): Omit<Documents, 'isExport'> {
  const found = files.flatMap(([name, own]) =>
    own.map((document, at) => [own.length > 1 ? `${name}, document ${at + 1}` : name, document] as const),
  );
  return { documents: found.map(([, document]) => document), places: found.map(([place]) => place) };
}

function documentsOf(name: string, text: string): unknown[] {
  return parsed(name, text).flatMap(itemsOf);
}

function parsed(name: string, text: string): unknown[] {
  try {
    return parseYaml(text);
  } catch (error) {
    throw error instanceof YamlError ? new CliError(`${name}: ${error.message}`, EXIT.input) : error;
  }
}

/** A `List` is taken apart, as kubectl writes one, so that each of its resources has a place. */
function itemsOf(document: unknown): unknown[] {
  const { kind, items } = (document ?? {}) as { kind?: unknown; items?: unknown };
  return kind === 'List' && Array.isArray(items) ? items : [document];
}

/** Kind and name of a document, as far as it has them. */
export function nameOf(document: unknown): { readonly kind: unknown; readonly name: string } {
  const { kind, metadata } = (document ?? {}) as { kind?: unknown; metadata?: { name?: unknown } };
  return { kind, name: String(metadata?.name ?? '') };
}

/** Names the files of the documents in the error of a call that is refused. */
export async function withFileNames<T>({ places }: Pick<Documents, 'places'>, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const named = (text: string) =>
      text.replaceAll(/\/documents\/(\d+)(?=\/|:|$)/gm, (at, index: string) => {
        const place = places[Number(index)];
        return place === undefined ? at : `${place} `;
      });
    const { errors } = error.problem as { errors?: readonly { readonly pointer?: string }[] };
    const placed = errors?.map((one) => {
      const file = places[Number(/^\/documents\/(\d+)/.exec(one.pointer ?? '')?.[1] ?? Number.NaN)];
      return { ...one, ...(file !== undefined && { file }) };
    });
    throw new CliError(named(error.message), error.exitCode, { ...error.problem, ...(placed && { errors: placed }) });
  }
}
