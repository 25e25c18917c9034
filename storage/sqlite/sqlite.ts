import path from 'node:path';
import type { ReaderOptions } from '../reader.ts';
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
  file: (place: string) => (fileOf(place) === IN_MEMORY ? undefined : path.resolve(fileOf(place))),
};
