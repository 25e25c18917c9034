import type { Clock, Log, Store } from '../core/base/ports.ts';
import type { SharedState } from '../core/base/shared.ts';
import type { CopySource, CopyTarget } from './copy/place.ts';
import { mongodb, mongodbSrv } from './mongo/mongo.ts';
import type { ReaderOptions, StoreReader } from './reader.ts';
import { sqlite } from './sqlite/sqlite.ts';
import type { StoreUpkeep } from './upkeep.ts';

export interface StoreOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Bytes that are kept free on the disk of a store in a file: its log stays well below. */
  readonly reserve?: number;
}

/** A store that is open for writing, and what keeps its file well. */
export interface OpenStore extends Store {
  readonly upkeep: StoreUpkeep;
  /** Present only for a store that runs on database servers. */
  readonly shared?: SharedDatabase;
}

/**
 * The facts about the installation in a shared database, for all control planes that have it open, and the state that they
 * share in it beside the records.
 */
export interface SharedDatabase extends SharedState {
  /** Says whose it is, unless that is said already. @param keys names the keys that it is written with */
  claim(keys: string): Promise<Claim>;
  /** Names the keys that it is written with, where that is said. */
  claimedWith(): Promise<string | undefined>;
  /** Begins another life of it, as after some of it was lost. */
  renew(): Promise<Claim>;
  /** True while most of its servers answer and choose one that takes writes: no control plane is served by them then. */
  isElecting(): boolean;
  /** Returns the time on the clock of the database servers, ms. */
  now(): Promise<number>;
}

export interface Claim {
  readonly keys: string;
  /** Names this life of the database: another one once it was restored or copied, so that revisions may have gone back. */
  readonly epoch: string;
}

/** A kind of store. `place` is what follows the scheme in its URL. */
interface StoreKind {
  /** The part of the URL after the scheme, described for people. */
  readonly form: string;
  open(place: string, options: StoreOptions): Promise<OpenStore>;
  openReader(place: string, options: ReaderOptions): StoreReader | Promise<StoreReader>;
  openSource(place: string): Promise<CopySource>;
  openTarget(place: string, now: number): Promise<CopyTarget>;
  /** Returns what is invalid in the place, as far as that is known without contacting a server. */
  problem(place: string): Promise<string | undefined>;
  /** True if the store runs on servers of its own. */
  readonly isServer: boolean;
  /** The file that it is in, which other threads of the process can open too; undefined for one in memory, or on servers. */
  file(place: string): string | undefined;
}

/** By the scheme of their URLs. */
const STORES: Readonly<Record<string, StoreKind>> = { sqlite, mongodb, 'mongodb+srv': mongodbSrv };
/** The scheme for a path that has none. */
const DEFAULT_SCHEME = 'sqlite';

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
  const { kind, place } = storeAt(url);
  return kind.open(place, options);
}

/** @throws Error for a scheme that is no store's; StoreError `unavailable` */
export async function openStoreReader(url: string, options: ReaderOptions): Promise<StoreReader> {
  const { kind, place } = storeAt(url);
  return kind.openReader(place, options);
}

/** To be copied elsewhere. @throws Error for a scheme that is no store's; StoreError `unavailable` */
export async function openCopySource(url: string): Promise<CopySource> {
  const { kind, place } = storeAt(url);
  return kind.openSource(place);
}

/** To be copied to. @throws Error for a scheme that is no store's; StoreError `unavailable` */
export async function openCopyTarget(url: string, now: number): Promise<CopyTarget> {
  const { kind, place } = storeAt(url);
  return kind.openTarget(place, now);
}

/** Returns what is wrong with the URL of a store, without contacting the store. @throws Error for a scheme of no store */
export function addressProblem(url: string): Promise<string | undefined> {
  const { kind, place } = storeAt(url);
  return kind.problem(place);
}

/** True if other processes, and other threads of this one, can open the store too. */
export function isShared(url: string): boolean {
  const { kind, place } = storeAt(url);
  return kind.isServer || kind.file(place) !== undefined;
}

/** True if the store runs on servers of its own, so that any number of control planes can have it open. */
export function isServed(url: string): boolean {
  return storeAt(url).kind.isServer;
}

/** The file of the store, which other threads of the process can open; undefined for one in memory, or on servers. */
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
