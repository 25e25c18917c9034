import { accessSync, constants, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { isObject } from '../core/base/is-object.ts';
import { parseToken } from '../core/model/token.ts';
import { CliError, EXIT } from './exit.ts';
import { writePrivate } from './session.ts';

/** Where the configuration of an MCP client keeps this server. */
export const SERVER_NAME = 'mesh';
const GROUPS = ['mcpServers', 'servers'] as const;
export type Group = (typeof GROUPS)[number];
export type Entry = Readonly<Record<string, unknown>>;

/** The fields that Mesh writes to its entry, or that hold a token in another form; other fields of the client are kept. */
const OWN_FIELDS = 'type url serverUrl httpUrl headers headersHelper command args env envFile cwd'.split(' ');

/** A client's configuration that is known to be readable and to be writable. */
export interface ClientFile {
  readonly file: string;
  /** Puts the entry in, in one step and readable by its owner only. @returns the file that the former text was kept in */
  write(entry: Entry): string | undefined;
}

/** @throws CliError where it cannot be read, is no JSON with comments, or cannot be written */
export function openClientFile(name: string, group: Group): ClientFile {
  const file = existsSync(name) ? realpathSync(name) : path.resolve(name);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  // Nothing may be asked for that could not be written then.
  withEntry(before, file, group, {});
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    accessSync(path.dirname(file), constants.W_OK);
  } catch (error) {
    throw new CliError(`Cannot write ${file}: ${(error as Error).message}`, EXIT.input);
  }
  return {
    file,
    write(entry) {
      const backup = before === undefined ? undefined : `${file}.bak`;
      if (backup !== undefined) writePrivate(backup, before ?? '');
      writePrivate(file, withEntry(before, file, group, entry));
      return backup;
    },
  };
}

/** The text of a configuration with the entry in it; the rest, comments and layout too, as it was. @throws CliError */
export function withEntry(before: string | undefined, file: string, group: Group, entry: Entry): string {
  const text = (before ?? '').replace(/^\uFEFF/, '');
  if (text.trim() === '') return `${JSON.stringify({ [group]: { [SERVER_NAME]: entry } }, null, 2)}\n`;
  const errors: ParseError[] = [];
  const root: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first) throw unreadable(file, `${printParseErrorCode(first.error)} in line ${lineOf(text, first.offset)}`);
  if (!isObject(root)) throw unreadable(file, 'it is no JSON object');
  const servers = root[group] ?? {};
  if (!isObject(servers)) throw unreadable(file, `its ${group} is no JSON object`);
  const held = servers[SERVER_NAME];
  const kept = Object.entries(isObject(held) ? held : {}).filter(([field]) => !OWN_FIELDS.includes(field));
  const formattingOptions = { insertSpaces: !/^\t/m.test(text), tabSize: indentOf(text), eol: '\n' };
  const next = { ...Object.fromEntries(kept), ...entry };
  const put = (before: string, path: string[], value: unknown) =>
    applyEdits(before, modify(before, path, value, { formattingOptions }));
  const stale = GROUPS.filter((other) => other !== group && isOurs(root[other]));
  const cleared = stale.reduce((rest, other) => put(rest, [other, SERVER_NAME], undefined), text);
  return put(cleared, [group, SERVER_NAME], next);
}

/** Returns true if Mesh wrote the entry, in the form of another client: it holds a Mesh token. */
function isOurs(servers: unknown): boolean {
  const entry = isObject(servers) ? servers[SERVER_NAME] : undefined;
  if (!isObject(entry)) return false;
  const { headers, env } = entry;
  const bearer = isObject(headers) ? headers['Authorization'] : undefined;
  const given = isObject(env) ? env['MESH_TOKEN'] : undefined;
  return parseToken(String(given ?? bearer ?? '').replace(/^Bearer /, '')) !== undefined;
}

function unreadable(file: string, why: string): CliError {
  return new CliError(
    `${file} cannot be merged with (${why}), so it was left as it is. Mend it, or give another --output.`,
    EXIT.input,
  );
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Spaces of the first line that is indented. */
function indentOf(text: string): number {
  return /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
}
