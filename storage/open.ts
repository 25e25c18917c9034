import type { Clock, Log, Store } from '../core/base/ports.ts';
import { sqlite } from './sqlite/sqlite.ts';
import type { StoreUpkeep } from './upkeep.ts';

export interface StoreOptions {
  readonly clock: Clock;
  readonly log: Log;
}

export interface ReaderOptions {
  readonly log: Log;
  /** The writes of the store that is open in this process. */
  readonly writes: Pick<Store, 'commit' | 'record'>;
}

/** A store that is open for writing, and what keeps its file well. */
export interface OpenStore extends Store {
  readonly upkeep: StoreUpkeep;
}

/** A second view of a store that is open elsewhere in this process: it reads by itself, and writes there. */
export interface StoreReader extends Store {
  /** Tells the listeners of `onCommit` of what was committed to a workspace since the last time. */
  refresh(workspace: string): Promise<void>;
}

/** A kind of store. `place` is what follows the scheme in its URL. */
interface StoreKind {
  /** What follows the scheme, for people. */
  readonly form: string;
  open(place: string, options: StoreOptions): Promise<OpenStore>;
  openReader(place: string, options: ReaderOptions): StoreReader;
  /** The file that it is in, which other threads of the process can open too; undefined for one in memory. */
  file(place: string): string | undefined;
}

/** By the scheme of their URLs. */
const STORES: Readonly<Record<string, StoreKind>> = { sqlite };
/** Of a path without a scheme. */
const DEFAULT_SCHEME = 'sqlite';

const schemes = Object.keys(STORES).map((scheme) => `${scheme}:`);

/** How the URL of a store is written, and what is said of one that is written otherwise. */
export const STORE_URL = {
  forms: Object.entries(STORES)
    .map(([scheme, { form }]) => `${scheme}:${form}`)
    .join(' or '),
  rule: `must begin with ${schemes.join(' or ')} (the ${schemes.length === 1 ? 'one store' : 'stores'} of this version)`,
  isKnown: (url: string) => schemes.some((scheme) => url.startsWith(scheme)),
} as const;

/** @throws Error for a scheme that is no store's; StoreError `unavailable` */
export function openStore(url: string, options: StoreOptions): Promise<OpenStore> {
  const { kind, place } = storeAt(url);
  return kind.open(place, options);
}

/** @throws Error for a scheme that is no store's; StoreError `unavailable` */
export function openStoreReader(url: string, options: ReaderOptions): StoreReader {
  const { kind, place } = storeAt(url);
  return kind.openReader(place, options);
}

/** The file of the store, which other threads of the process can open; undefined for one in memory. */
export function storeFile(url: string): string | undefined {
  const { kind, place } = storeAt(url);
  return kind.file(place);
}

function storeAt(url: string): { readonly kind: StoreKind; readonly place: string } {
  const [, scheme = DEFAULT_SCHEME, place = url] = /^([a-z][a-z0-9+.-]*):(.*)$/s.exec(url) ?? [];
  const kind = Object.hasOwn(STORES, scheme) ? STORES[scheme] : undefined;
  if (!kind) throw new Error(`No store is called ${scheme}: an address of a store ${STORE_URL.rule}.`);
  return { kind, place };
}
