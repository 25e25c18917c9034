import type { StoreEngine } from '../engine.ts';

/** A store on a MongoDB replica set as one of the kinds that a URL can name. The driver is read only where one does. */
function served(scheme: string, form: string): StoreEngine {
  return {
    form,
    at(place) {
      const url = `${scheme}:${place}`;
      return {
        open: async (options) => (await import('./store.ts')).openMongoStore({ url, ...options }),
        openReader: async (options) => (await import('./reader.ts')).openMongoReader({ url, ...options }),
        openSource: async () => (await import('./copy-source.ts')).openMongoSource(url),
        openTarget: async () => (await import('./copy-target.ts')).openMongoTarget(url),
        problem: async () => (await import('./connect.ts')).addressProblem(url),
        file: undefined,
        servers: {
          ownTools:
            'MongoDB, which has its own tools for this: mongodump --oplog and mongorestore --oplogReplay, or snapshots of its disks.',
          examine: async () => (await import('./examine.ts')).examineMongo(url),
          openPlanesReader: async () => (await import('./examine.ts')).openPlanesReader(url),
        },
      };
    },
  };
}

export const mongodb = served('mongodb', '//<host>:<port>,…/<database>?replicaSet=<name>');
export const mongodbSrv = served('mongodb+srv', '//<host>/<database>');
