import { StunListener } from '../../net/stun/listener.ts';
import { platformOf } from '../../platform/platform.ts';

/** The STUN server as `meshd stun` runs it, without a limit that one source would meet: `auto` or `plain`. Prints its port. */
const { datagrams } = platformOf(process.argv[2] === 'plain' ? 'plain' : 'auto');
const stun = new StunListener({
  host: '127.0.0.1',
  port: 0,
  clock: { now: () => Date.now() },
  ratePerSecond: 1e9,
  datagrams,
});
const { port } = await stun.start();
process.stdout.write(`${port}\n`);
process.stdin.on('end', () => void stun.stop()).resume();
