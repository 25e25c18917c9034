import { type Store, StoreError } from '../../core/base/ports.ts';
import type { Metrics } from '../../rest/metrics.ts';
import type { Config } from './config.ts';
import type { Disk } from './disk.ts';
import type { StoreState } from './store-maintenance.ts';

const WRITES = { name: 'mesh_store_writes_total', help: 'Writes to the store by outcome: ok, or why not' } as const;
const SECONDS = {
  name: 'mesh_store_write_seconds',
  help: 'Time of writes to the store, until they are durable',
} as const;

/** A store whose writes are counted. */
export function measured<S extends Store>(store: S, metrics: Metrics): S {
  metrics.declare(WRITES.name, 'counter', WRITES.help);
  metrics.declare(SECONDS.name, 'histogram', SECONDS.help);
  const timed =
    <A extends unknown[], T>(kind: string, write: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const startedAt = performance.now();
      let outcome = 'ok';
      try {
        return await write(...args);
      } catch (error) {
        outcome = error instanceof StoreError ? error.code : 'bug';
        throw error;
      } finally {
        metrics.count(WRITES.name, WRITES.help, { kind, outcome });
        metrics.observe(SECONDS.name, SECONDS.help, { kind }, (performance.now() - startedAt) / 1_000);
      }
    };
  return { ...store, commit: timed('commit', store.commit), record: timed('event', store.record) };
}

export function diskMetrics(metrics: Metrics, disk: Disk): void {
  metrics.gauge('mesh_store_size_bytes', 'Size of the files of the store', () =>
    Object.entries(disk.sizes()).map(([file, value]) => ({ labels: { file }, value })),
  );
  metrics.gauge(
    'mesh_disk_free_bytes',
    'Free on the disk of the store; infinite where there is no disk',
    () => disk.free() ?? Number.POSITIVE_INFINITY,
  );
  metrics.gauge('mesh_disk_reserve_bytes', 'Below so much free new records are refused', () => disk.reserve);
}

/** Neither is told where automatic backups are off. */
export function backupMetrics(metrics: Metrics, backups: Config['app']['backups'], state: () => StoreState): void {
  if (backups === 'off') return;
  metrics.gauge(
    'mesh_backup_age_seconds',
    'Age of the newest automatic backup; infinite before the first',
    () => (state().backup?.ageMs ?? Number.POSITIVE_INFINITY) / 1_000,
  );
  metrics.gauge('mesh_backup_interval_seconds', 'How often the database is backed up', () => backups.every / 1_000);
}
