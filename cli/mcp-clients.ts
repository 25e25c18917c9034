import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { sessionFile, writePrivate } from './session.ts';

const identitySchema = z.object({
  server: z.string(),
  workspace: z.string(),
  kind: z.enum(['agent', 'personal']),
  /** The id of the agent or of the API token. */
  id: z.string(),
  name: z.string(),
});

/** Whose token a configuration holds, so that the next one replaces it. No secret. */
export type StoredIdentity = z.output<typeof identitySchema>;

const book = z.record(z.string(), identitySchema);

export function storedIdentity(file: string): StoredIdentity | undefined {
  return read()[file];
}

/**
 * Notes whose token a file holds now. A token has one file: an agent that is renewed has lost those it had.
 *
 * @returns the other files that hold a token which ended by this
 */
export function storeIdentity(file: string, next: StoredIdentity): string[] {
  const others = Object.entries(read()).filter(([name]) => name !== file);
  const isEnded = ([, { server, id }]: [string, StoredIdentity]) => server === next.server && id === next.id;
  const kept = Object.fromEntries(others.filter((entry) => !isEnded(entry)));
  writePrivate(bookFile(), `${JSON.stringify({ ...kept, [file]: next }, null, 2)}\n`);
  return others.filter(isEnded).map(([name]) => name);
}

function bookFile(): string {
  return path.join(path.dirname(sessionFile()), 'mcp-clients.json');
}

/** A book that is not there, or damaged, costs no more than a token that ends by its time. */
function read(): z.output<typeof book> {
  try {
    return book.parse(JSON.parse(readFileSync(bookFile(), 'utf8')));
  } catch {
    return {};
  }
}
