import type { SqliteReaderOptions } from './reader.ts';
import { openSqliteReader } from './reader.ts';
import { openSqliteStore, type SqliteStoreOptions } from './store.ts';

/** `sqlite:<file>`, or `sqlite://<file>`. */
const fileOf = (place: string) => place.replace(/^\/\//, '');

/** In the memory of the connection that made it. */
const IN_MEMORY = ':memory:';

/** The embedded store as one of the kinds that a URL can name. */
export const sqlite = {
  form: '<file>',
  open: (place: string, options: Omit<SqliteStoreOptions, 'path'>) =>
    openSqliteStore({ path: fileOf(place), ...options }),
  openReader: (place: string, options: Omit<SqliteReaderOptions, 'path'>) =>
    openSqliteReader({ path: fileOf(place), ...options }),
  file: (place: string) => (fileOf(place) === IN_MEMORY ? undefined : fileOf(place)),
};
