import { silentLog } from '../../core/base/silent-log.ts';
import { openSqliteStore } from './store.ts';

/** Commits without end from several writers at once and prints each revision once it is acknowledged. */
const [path = ''] = process.argv.slice(2);
const WRITERS = 8;

const store = await openSqliteStore({ path, clock: { now: () => Date.now() }, log: silentLog });
const start = await store.revision('w_crash');

await Promise.all(
  Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; ; n++) {
      const name = `${start}-${writer}-${n}`;
      const record = {
        kind: 'MeshPeer',
        name,
        uid: `p_${name}`,
        labels: {},
        annotations: {},
        spec: { displayName: name, hostname: name, platform: 'linux', publicKey: name, network: 'default' },
        status: { phase: 'pending', address: null },
        unique: [`ip:${name}`],
      } as const;
      const { revision } = await store.commit('w_crash', [{ op: 'create', record }], {
        actor: 'system:crash-test',
        reason: 'write loop',
        requestId: name,
      });
      process.stdout.write(`${revision} ${name}\n`);
    }
  }),
);
