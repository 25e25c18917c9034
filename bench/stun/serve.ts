import { StunListener } from '../../net/stun/listener.ts';

/** The STUN server as `meshd stun` runs it, without a limit that one source would meet. Prints its port. */
const stun = new StunListener({ host: '127.0.0.1', port: 0, clock: { now: () => Date.now() }, ratePerSecond: 1e9 });
const { port } = await stun.start();
process.stdout.write(`${port}\n`);
process.stdin.on('end', () => void stun.stop()).resume();
