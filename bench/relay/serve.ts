import { RelayListener } from '../../net/relay/listener.ts';
import { BENCH_TOKEN } from './channels.ts';

/** The relay as `meshd relay` runs it. Prints its port. */
const relay = new RelayListener({ host: '127.0.0.1', port: 0, token: BENCH_TOKEN, clock: { now: () => Date.now() } });
const { port } = await relay.start();
process.stdout.write(`${port}\n`);
process.stdin.on('end', () => void relay.stop()).resume();
