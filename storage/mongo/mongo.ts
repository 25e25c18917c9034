import type { StoreEngine } from '../engine.ts';

/** A store on a MongoDB replica set as one of the kinds that a URL can name. The driver is read only where one does. */
function served(scheme: string, form: string): StoreEngine {
  const urlOf = (place: string) => `${scheme}:${place}`;
  return {
    form,
    open: async (place, options) => (await import('./store.ts')).openMongoStore({ url: urlOf(place), ...options }),
    openReader: async (place, options) =>
      (await import('./reader.ts')).openMongoReader({ url: urlOf(place), ...options }),
    openSource: async (place) => (await import('./copy-source.ts')).openMongoSource(urlOf(place)),
    openTarget: async (place) => (await import('./copy-target.ts')).openMongoTarget(urlOf(place)),
    problem: async (place) => (await import('./connect.ts')).addressProblem(urlOf(place)),
    file: () => undefined,
    servers: (place) => ({
      ownTools:
        'MongoDB, which has its own tools for this: mongodump --oplog and mongorestore --oplogReplay, or snapshots of its disks.',
      examine: async () => (await import('./examine.ts')).examineMongo(urlOf(place)),
      openPlanesReader: async () => (await import('./examine.ts')).openPlanesReader(urlOf(place)),
    }),
  };
}

export const mongodb = served('mongodb', '//<host>:<port>,…/<database>?replicaSet=<name>');
export const mongodbSrv = served('mongodb+srv', '//<host>/<database>');
