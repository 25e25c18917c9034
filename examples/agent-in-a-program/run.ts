import { parseArgs } from 'node:util';
import { targetOf } from '../../cli/session.ts';
import { delegatedJob } from './delegated-job.ts';

/** Runs the story against a control plane and prints each step. Without options it uses the session of `mesh login`. */
const { values } = parseArgs({
  options: { server: { type: 'string' }, token: { type: 'string' }, ttl: { type: 'string', default: '30s' } },
});
const { server, token } = targetOf(values);
if (!token) {
  console.error('Sign in first (mesh login), or give --server and --token.');
  process.exit(2);
}
await delegatedJob({
  ...{ server, token, ttl: values.ttl },
  say: (step, detail) => console.log(step, ...(detail === undefined ? [] : [JSON.stringify(detail)])),
});
