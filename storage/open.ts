import type { DatabaseFile } from './database-file.ts';
import type { OpenStore, StoreAddress, StoreEngine, StoreOptions } from './engine.ts';
import { mongodb, mongodbSrv } from './mongo/mongo.ts';
import { sqlite, sqliteFile } from './sqlite/sqlite.ts';

/** The engines by the scheme of their URLs. */
const STORES: Readonly<Record<string, StoreEngine>> = { sqlite, mongodb, 'mongodb+srv': mongodbSrv };
/** The scheme for a path that has none, and the file there. */
const DEFAULT_SCHEME = 'sqlite';
export const databaseAt: (path: string) => DatabaseFile = sqliteFile;

const schemes = Object.keys(STORES).map((scheme) => `${scheme}:`);

function eitherOf(texts: readonly string[]): string {
  // Intl.ListFormat would take 10 ms of every start.
  return `${texts.slice(0, -1).join(', ')}, or ${texts.at(-1)}`;
}

/** How the URL of a store is written, and what is said of one that is written otherwise. */
export const STORE_URL = {
  forms: eitherOf(Object.entries(STORES).map(([scheme, { form }]) => `${scheme}:${form}`)),
  rule: `must begin with ${eitherOf(schemes)} (the stores of this version)`,
  isKnown: (url: string) => schemes.some((scheme) => url.startsWith(scheme)),
} as const;

/** @throws Error for a scheme of no store */
export function storeAt(url: string): StoreAddress {
  const [, scheme = DEFAULT_SCHEME, place = url] = /^([a-z][a-z0-9+.-]*):(.*)$/s.exec(url) ?? [];
  const engine = Object.hasOwn(STORES, scheme) ? STORES[scheme] : undefined;
  if (!engine) throw new Error(`No store is called ${scheme}: an address of a store ${STORE_URL.rule}.`);
  return engine.at(place);
}

/** @throws Error for a scheme of no store; StoreError `unavailable` */
export function openStore(url: string, options: StoreOptions): Promise<OpenStore> {
  return storeAt(url).open(options);
}

/** True if other processes, and other threads of this one, can open the store too. */
export function isShared({ file, servers }: StoreAddress): boolean {
  return file !== undefined || servers !== undefined;
}
