import { RelayListener } from '../../net/relay/listener.ts';
import { StunListener } from '../../net/stun/listener.ts';

/** Runs inside a lab's namespace: a relay and a STUN server, and nothing else of a control plane. `node paths-plane.ts <relay token>` */
const [token = ''] = process.argv.slice(2);
const clock = { now: () => Date.now() };
await new RelayListener({ host: '0.0.0.0', port: 6266, token, clock }).start();
await new StunListener({ host: '::', port: 3478, clock }).start();
process.stdout.write('up\n');
