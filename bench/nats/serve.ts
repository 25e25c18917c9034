import { EmbeddedBus } from '../../net/nats/bus.ts';

/** The embedded broker as the control plane runs it, in its worker thread. Prints its port. */
const bus = new EmbeddedBus({ host: '127.0.0.1', port: 0, auth: 'open' });
const { port } = await bus.start();
process.stdout.write(`${port}\n`);
process.stdin.on('end', () => void bus.stop()).resume();
