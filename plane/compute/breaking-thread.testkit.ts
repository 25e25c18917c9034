import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { MeshError } from '../../core/base/errors.ts';
import { type AnyOperation, operationsFor, READ } from '../../core/base/operation.ts';
import { StoreError } from '../../core/base/ports.ts';
import type { ComputeServices } from '../../core/intent/plan/services.ts';
import { serveCalls, type ThreadParts } from './serve.ts';

/** A computing thread of which each operation goes wrong in its way, or writes; for tests. */
const define = operationsFor<ComputeServices>();

function operation(name: string, run: (services: ComputeServices) => Promise<unknown>): AnyOperation<ComputeServices> {
  return define({
    name,
    title: name,
    description: name,
    input: z.strictObject({}),
    output: z.looseObject({}),
    access: 'network:read',
    workspace: 'scoped',
    edition: 'community',
    effects: READ,
    problems: [],
    http: { method: 'get', path: '/api/v1/breaking' },
    run: async (_input, { services }) => ({ answer: await run(services) }),
  });
}

const operations = [
  operation('say_time', async ({ clock }) => clock.now()),
  operation('take_memory', async () => {
    const taken: unknown[] = [];
    for (;;) taken.push(new Array(10_000).fill(taken.length));
  }),
  operation('exit', async () => process.exit(3)),
  operation('spin', async () => {
    for (;;);
  }),
  operation('refuse', async () => {
    throw new MeshError('not_found', 'There is none.', { what: 'peer' });
  }),
  operation('find_taken', async () => {
    throw new StoreError('unique', 'the name web');
  }),
  operation('break', async () => {
    throw new RangeError('a bug');
  }),
  operation('write', ({ store }) => store.commit('w_1', [], { actor: 'user:ada', reason: 'because', requestId: 'r' })),
];

if (parentPort) {
  serveCalls(parentPort, (writes, clock) => {
    const services = { store: writes, clock } as ThreadParts['services'];
    return { operations, computations: [], services, refresh: async () => undefined };
  });
}
