import { parseArgs } from 'node:util';
import { targetOf } from '../../cli/session.ts';
import { mainJob } from './main-job.ts';

/** Runs the main job against a control plane and prints each step. Without options it uses the session of `mesh login`. */
const { values } = parseArgs({ options: { server: { type: 'string' }, token: { type: 'string' } } });
const { server, token } = targetOf(values);
if (!token) {
  console.error('Sign in first (mesh login), or give --server and --token.');
  process.exit(2);
}
let count = 0;
await mainJob({
  server,
  token,
  say(step, detail) {
    count += 1;
    console.log(`\n${count}. ${step}`);
    if (detail !== undefined) console.log(typeof detail === 'string' ? detail : JSON.stringify(detail, null, 2));
  },
});
console.log('\nDone.');
