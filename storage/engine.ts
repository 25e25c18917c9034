import type { Clock, Log, Store } from '../core/base/ports.ts';
import type { SharedState } from '../core/base/shared.ts';
import type { CopySource, CopyTarget } from './copy/copy-ends.ts';
import type { DatabaseFile } from './database-file.ts';
import type { ReaderOptions, StoreReader } from './reader.ts';

/** A kind of store. */
export interface StoreEngine {
  /** The part of its URLs after the scheme, described for people. */
  readonly form: string;
  /** @param place what follows the scheme in a URL */
  at(place: string): StoreAddress;
}

/** Names a store. Those that open it throw StoreError `unavailable`. */
export interface StoreAddress {
  open(options: StoreOptions): Promise<OpenStore>;
  openReader(options: ReaderOptions): Promise<StoreReader>;
  /** To be copied elsewhere. */
  openSource(): Promise<CopySource>;
  /** To be copied to. */
  openTarget(now: number): Promise<CopyTarget>;
  /** Returns what is wrong with the address, without contacting the store. */
  problem(): Promise<string | undefined>;
  /** The file of the store, which other threads of the process can open too; undefined for one in memory, or on servers. */
  readonly file: DatabaseFile | undefined;
  /** The servers of the store, which any number of control planes can have open; undefined for one without them. */
  readonly servers: DatabaseServers | undefined;
}

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

/** The maintenance of a store's file while it is open. */
export interface StoreUpkeep {
  /** Where it is, links followed, and the URL by which another thread opens it; undefined of one that has no file. */
  readonly file: { readonly path: string; readonly url: string } | undefined;
  /** Why nothing can be written any more: the file was removed, replaced or cut short. Undefined while it is well. */
  problem(): string | undefined;
  /** Bytes of the file, and of the log of what is not in it yet. */
  bytes(): { readonly file: number; readonly log: number };
  /** Moves what is in the log into the file, as far as no reader needs it there. */
  checkpoint(): void;
  /** Gives free pages back to the file system in small steps between writes, where there are many. @returns how many */
  vacuum(): Promise<number>;
  /**
   * Writes all that the store still knows beside its file, which was removed.
   *
   * @returns the copy, which `meshd restore` takes; undefined where what is left is no whole database
   */
  rescue(): Promise<string | undefined>;
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

/** Database servers, which control planes may use meanwhile. */
export interface DatabaseServers {
  /** Completes "MESH_STORE_URL names …" for a command that the servers' own tools take the place of. */
  readonly ownTools: string;
  /** Looks at a database. Nothing is written. @throws StoreError that says what is wrong */
  examine(): Promise<Examination>;
  /** Opens the state that control planes store about themselves. Nothing is written. @throws StoreError */
  openPlanesReader(): Promise<PlanesReader>;
}

export interface Examination {
  /** Names the servers that answer. */
  readonly servers: string;
  /** False before the first control plane. */
  readonly isUsed: boolean;
  /** Completes "back it up …". */
  readonly backup: string;
}

export interface PlanesReader extends Pick<SharedState, 'cells'>, Pick<Store, 'leases'> {
  close(): Promise<void>;
}
