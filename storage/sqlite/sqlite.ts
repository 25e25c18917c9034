import path from 'node:path';
import { linksFollowed } from '../links.ts';
import type { ReaderOptions } from '../reader.ts';
import { openSqliteSource } from './copy-source.ts';
import { sqliteTarget } from './copy-target.ts';
import { IN_MEMORY } from './database.ts';
import { openSqliteReader } from './reader.ts';
import { openSqliteStore, type SqliteStoreOptions } from './store.ts';

/** `sqlite:<file>`, or `sqlite://<file>`. */
const fileOf = (place: string) => place.replace(/^\/\//, '');

/** The embedded store as one of the kinds that a URL can name. */
export const sqlite = {
  form: '<file>',
  isServer: false,
  open: (place: string, options: Omit<SqliteStoreOptions, 'path'>) =>
    openSqliteStore({ path: fileOf(place), ...options }),
  openReader: (place: string, options: ReaderOptions) => openSqliteReader({ path: fileOf(place), ...options }),
  openSource: (place: string) => openSqliteSource(linksFollowed(fileOf(place))),
  openTarget: async (place: string, now: number) => sqliteTarget(linksFollowed(fileOf(place)), now),
  problem: async () => undefined,
  file: (place: string) => (fileOf(place) === IN_MEMORY ? undefined : path.resolve(fileOf(place))),
};
