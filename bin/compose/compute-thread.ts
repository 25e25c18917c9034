import { parentPort, workerData } from 'node:worker_threads';
import type { ComputeThreadData } from './compute.ts';
import { serveOn } from './compute-services.ts';

/** A computing thread: heavy operations over a connection of its own that only reads. */
if (parentPort) serveOn(parentPort, workerData as ComputeThreadData);
