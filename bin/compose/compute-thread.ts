import { enableCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { ComputeThreadData } from './compute.ts';

/** A computing thread: heavy operations over a connection of its own that only reads. */
enableCompileCache();
if (parentPort) {
  const { serveOn } = await import('./compute-services.ts');
  serveOn(parentPort, workerData as ComputeThreadData);
}
