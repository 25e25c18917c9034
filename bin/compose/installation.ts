import type { DurableHeads } from '../../core/audit/log-keys.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import { type Credentials, readCredentials, readKeysFile } from '../../storage/credentials.ts';
import type { OpenStore } from '../../storage/engine.ts';
import type { Config } from './config.ts';

/** Where an installation has its keys. */
export interface KeyLocation {
  readonly configDir: string;
  /** The file of keys that several control planes share; without it the keys are in the directory. */
  readonly keysFile?: string | undefined;
}

export interface InstallationOptions extends KeyLocation {
  readonly storeUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Bytes that are kept free on the disk of the store. */
  readonly reserve: number;
  /** Go on where the database has less than the installation had. */
  readonly acceptLoss?: boolean;
}

/** The parts of an installation that a control plane uses. */
export interface Installation {
  readonly store: OpenStore;
  readonly credentials: Credentials;
  readonly heads: DurableHeads;
  /** Revisions of the store rise as long as this is the same. */
  readonly epoch: string;
}

export function keyLocationOf({ configDir, env }: Pick<Config, 'configDir' | 'env'>): KeyLocation {
  return { configDir, keysFile: env.MESH_KEYS_FILE };
}

/** Undefined where there are none yet. Nothing is written. @throws Error that says what to do */
export function storedCredentials({ configDir, keysFile }: KeyLocation): Credentials | undefined {
  return keysFile === undefined ? readCredentials(configDir) : readKeysFile(keysFile);
}
