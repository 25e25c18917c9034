import type { CopySource, CopyTarget } from './copy/place.ts';
import type { DatabaseFile } from './database-file.ts';
import type { DatabaseServers, OpenStore, StoreEngine, StoreOptions } from './engine.ts';
import { mongodb, mongodbSrv } from './mongo/mongo.ts';
import type { ReaderOptions, StoreReader } from './reader.ts';
import { sqlite, sqliteFile } from './sqlite/sqlite.ts';

/** The engines by the scheme of their URLs. */
const STORES: Readonly<Record<string, StoreEngine>> = { sqlite, mongodb, 'mongodb+srv': mongodbSrv };
/** The scheme for a path that has none, and the file there. */
const DEFAULT_SCHEME = 'sqlite';
export const databaseAt: (path: string) => DatabaseFile = sqliteFile;

const schemes = Object.keys(STORES).map((scheme) => `${scheme}:`);

function eitherOf(texts: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(texts);
}

/** How the URL of a store is written, and what is said of one that is written otherwise. */
export const STORE_URL = {
  forms: eitherOf(Object.entries(STORES).map(([scheme, { form }]) => `${scheme}:${form}`)),
  rule: `must begin with ${eitherOf(schemes)} (the stores of this version)`,
  isKnown: (url: string) => schemes.some((scheme) => url.startsWith(scheme)),
} as const;

/** @throws Error for a scheme that is no store's; StoreError `unavailable` */
export function openStore(url: string, options: StoreOptions): Promise<OpenStore> {
  const { engine, place } = storeAt(url);
  return engine.open(place, options);
}

/** @throws Error for a scheme that is no store's; StoreError `unavailable` */
export async function openStoreReader(url: string, options: ReaderOptions): Promise<StoreReader> {
  const { engine, place } = storeAt(url);
  return engine.openReader(place, options);
}

/** To be copied elsewhere. @throws Error for a scheme that is no store's; StoreError `unavailable` */
export async function openCopySource(url: string): Promise<CopySource> {
  const { engine, place } = storeAt(url);
  return engine.openSource(place);
}

/** To be copied to. @throws Error for a scheme that is no store's; StoreError `unavailable` */
export async function openCopyTarget(url: string, now: number): Promise<CopyTarget> {
  const { engine, place } = storeAt(url);
  return engine.openTarget(place, now);
}

/** Returns what is wrong with the URL of a store, without contacting the store. @throws Error for a scheme of no store */
export function addressProblem(url: string): Promise<string | undefined> {
  const { engine, place } = storeAt(url);
  return engine.problem(place);
}

/** True if other processes, and other threads of this one, can open the store too. */
export function isShared(url: string): boolean {
  return isServed(url) || storeFile(url) !== undefined;
}

/** True if the store runs on servers of its own, so that any number of control planes can have it open. */
export function isServed(url: string): boolean {
  return storeServers(url) !== undefined;
}

/** The file of the store, which other threads of the process can open; undefined for one in memory, or on servers. */
export function storeFile(url: string): DatabaseFile | undefined {
  const { engine, place } = storeAt(url);
  return engine.file(place);
}

/** The servers of the store; undefined for one without servers of its own. */
export function storeServers(url: string): DatabaseServers | undefined {
  const { engine, place } = storeAt(url);
  return engine.servers(place);
}

function storeAt(url: string): { readonly engine: StoreEngine; readonly place: string } {
  const [, scheme = DEFAULT_SCHEME, place = url] = /^([a-z][a-z0-9+.-]*):(.*)$/s.exec(url) ?? [];
  const engine = Object.hasOwn(STORES, scheme) ? STORES[scheme] : undefined;
  if (!engine) throw new Error(`No store is called ${scheme}: an address of a store ${STORE_URL.rule}.`);
  return { engine, place };
}
