import { type Credentials, readCredentials, readKeysFile } from '../../storage/credentials.ts';
import type { Config } from './config.ts';

/** Where an installation has its keys. */
export interface KeyPlace {
  readonly configDir: string;
  /** The file of keys that several control planes share; without it the keys are in the directory. */
  readonly keysFile?: string | undefined;
}

export function keyPlaceOf({ configDir, env }: Pick<Config, 'configDir' | 'env'>): KeyPlace {
  return { configDir, keysFile: env.MESH_KEYS_FILE };
}

/** Undefined where there are none yet. Nothing is written. @throws Error that says what to do */
export function knownCredentials({ configDir, keysFile }: KeyPlace): Credentials | undefined {
  return keysFile === undefined ? readCredentials(configDir) : readKeysFile(keysFile);
}
