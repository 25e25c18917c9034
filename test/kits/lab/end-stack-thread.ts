import type { Worker } from 'node:worker_threads';

/** Loaded into a node by --import: SIGUSR2 ends the thread of its network stack, as a fault in it would. */
const threads: Worker[] = [];
process.on('worker', (thread) => threads.push(thread));
process.on('SIGUSR2', () => {
  for (const thread of threads.splice(0)) if (thread.threadName === 'netstack') void thread.terminate();
});
