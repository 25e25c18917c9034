import type { StoreOptions } from '../open.ts';
import type { ReaderOptions } from '../reader.ts';

/** A store on a MongoDB replica set as one of the kinds that a URL can name. The driver is read only where one does. */
function served(scheme: string, form: string) {
  return {
    form,
    isServer: true,
    open: async (place: string, options: StoreOptions) =>
      (await import('./store.ts')).openMongoStore({ url: `${scheme}:${place}`, ...options }),
    openReader: async (place: string, options: ReaderOptions) =>
      (await import('./reader.ts')).openMongoReader({ url: `${scheme}:${place}`, ...options }),
    openSource: async (place: string) => (await import('./copy-source.ts')).openMongoSource(`${scheme}:${place}`),
    openTarget: async (place: string) => (await import('./copy-target.ts')).openMongoTarget(`${scheme}:${place}`),
    problem: async (place: string) => (await import('./connect.ts')).addressProblem(`${scheme}:${place}`),
    file: () => undefined,
  };
}

export const mongodb = served('mongodb', '//<host>:<port>,…/<database>?replicaSet=<name>');
export const mongodbSrv = served('mongodb+srv', '//<host>/<database>');
