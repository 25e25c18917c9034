import { loadConfig } from '../../bin/compose/config.ts';
import { startPlane } from '../../bin/compose/plane.ts';
import type { Log } from '../../core/base/ports.ts';

/** A plane on a directory, in a process of its own; tells where it answers. */
const [directory = ''] = process.argv.slice(2);
const listeners = {
  MESH_LISTEN: '127.0.0.1:0',
  MESH_BUS_LISTEN: 'off',
  MESH_RELAY_LISTEN: 'off',
  MESH_STUN_LISTEN: 'off',
};
const quiet: Log = { error: console.error, warn() {}, info() {}, debug() {} };
const plane = await startPlane(loadConfig(listeners, directory), { log: quiet });
process.send?.(plane.url);
process.on('message', () => {
  void plane.stop().then(() => process.exit(0));
});
