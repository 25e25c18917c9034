import { once } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { decodeBody, packBody } from './body.ts';

/** Run as a program: terminates threads, each while it packs and reads bodies, and says what the last one packed. */
const TEXT = JSON.stringify({ name: 'web', labels: { role: 'web' }, spec: { hostname: 'web'.repeat(300) } });
const THREADS = 30;

if (isMainThread) {
  const own = Buffer.from(packBody(TEXT)).toString('base64');
  const packed = [];
  for (let made = 0; made < THREADS; made += 1) {
    const thread = new Worker(new URL(import.meta.url));
    packed.push(Buffer.from((await once(thread, 'message'))[0] as Uint8Array).toString('base64'));
    await once(thread, 'message');
    await thread.terminate();
  }
  process.stdout.write(packed.every((one) => one === own) ? 'equal\n' : 'different\n');
} else {
  parentPort?.postMessage(packBody(TEXT));
  for (let turn = 0; ; turn += 1) {
    decodeBody('w', 'MeshPeer', 1, packBody(TEXT));
    if (turn === 100) parentPort?.postMessage('in the loop');
  }
}
