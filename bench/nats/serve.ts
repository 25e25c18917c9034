import { UNBOUNDED } from '../../net/nats/budget.ts';
import { EmbeddedBus } from '../../net/nats/bus.ts';
import { DEFAULT_LIMITS } from '../../net/nats/limits.ts';

/**
 * The embedded broker as the control plane runs it, in its worker thread. Prints its port. All load comes from one address,
 * which may have as much as it likes here. `copies`: it never keeps a message once for many.
 */
const copies = process.argv.includes('copies');
const address = { ...UNBOUNDED, partialBytes: DEFAULT_LIMITS.maxTotalPartial };
const bus = new EmbeddedBus({
  host: '127.0.0.1',
  port: 0,
  auth: 'open',
  limits: { address, ...(copies && { sharedFrom: Number.POSITIVE_INFINITY }) },
});
const { port } = await bus.start();
process.stdout.write(`${port}\n`);
process.stdin.on('end', () => void bus.stop()).resume();
